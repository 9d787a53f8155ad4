#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Plays a station from a receiver on the sound card while the demodulator moves (`make demo-live`), or says
# what that needs.
#
#   demo_live.sh [--check]
#
# STATION: its frequency in Hz. SOURCE: the receiver, as `input` of app.toml; left out: an rtl_tcp server on
# this machine, or a dongle by SoapySDR. CARD: ALSA's name of the sound card; none: only build/demo/live.wav.
# SECONDS_LONG: until Ctrl-C, or for so long.
set -eu
cd "$(dirname "$0")/../.."

WHIMBREL=${WHIMBREL:-bin/whimbrel}
SOUND=${SOUND:-$PWD/build/demo/live.wav}
SERVER=${SERVER:-127.0.0.1:1234}
SYSTEM=${SYSTEM:-}  # where /sys and /proc are
CARD=${CARD:-default}
SOURCE=${SOURCE:-}
STATION=${STATION:-}
missing=0

needs() {  # WHAT HELP
    printf 'error: %s\nhelp: %s\n' "$1" "$2" >&2
    missing=1
}

# Realtek's two numbers for what an RTL-SDR dongle has inside.
has_dongle() {
    grep -qsx '0bda' "$SYSTEM"/sys/bus/usb/devices/*/idVendor && grep -qsxE '283[28]' "$SYSTEM"/sys/bus/usb/devices/*/idProduct
}

has_server() {
    python3 -c 'import socket, sys; host, port = sys.argv[1].split(":"); socket.create_connection((host, int(port)), 2).close()' \
        "$SERVER" 2>/dev/null
}

has_card() {
    [ "$CARD" = none ] || [ "$CARD" != default ] || grep -qs '^ *[0-9]' "$SYSTEM/proc/asound/cards" ||
        [ -S "${XDG_RUNTIME_DIR:-/nowhere}/pipewire-0" ]
}

[ -n "$STATION" ] || needs 'there is no station' 'name its frequency in Hz: make demo-live STATION=100.3e6'
if [ -z "$SOURCE" ]; then
    if has_dongle && ls /usr/lib/*/SoapySDR/modules*/librtlsdrSupport.so >/dev/null 2>&1; then
        SOURCE=soapy://driver=rtlsdr
    elif has_server; then
        SOURCE=rtl_tcp://$SERVER
    elif has_dongle; then
        needs "a dongle is there, but nothing reads it: no rtl_tcp server on $SERVER" \
            'start `rtl_tcp` (Debian: rtl-sdr), or install soapysdr-module-rtlsdr'
    else
        needs "there is no receiver: no RTL-SDR dongle, and no rtl_tcp server on $SERVER" \
            'plug a dongle in, and start `rtl_tcp` (Debian: rtl-sdr); or name a receiver: SOURCE=rtl_tcp://HOST:PORT, SOURCE=soapy://driver=NAME'
    fi
fi
has_card || needs 'there is no sound card' \
    'connect one, or name it as `aplay -L` does: CARD=NAME; for a file only: CARD=none'
[ "$missing" = 0 ] || exit 1
[ "${1:-}" != --check ] || exit 0

[ "$CARD" != none ] || CARD=
mkdir -p "${SOUND%/*}"
exec "$WHIMBREL" run apps/fm_radio/app.toml --shuttle demodulator=1,0@500ms --migration-points waits --set input="$SOURCE" \
    --set station_hz="$STATION" --set card="$CARD" --set output="$SOUND" --set seconds="${SECONDS_LONG:-0}"
