#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what this checkout needs beyond a C compiler, make, Python 3 and Rust (`make setup`).
#
# Debian packages by apt-get, as root or through sudo; Python tools into build/venv. Says what is missing
# and how to get it where it may not install.
set -eu

# For `make build` and `make demo` nothing is needed; these are for `make test` and `make lint`.
packages='
    baresip-core
    berkeley-abc
    busybox-static
    ccache
    chromium
    clang-14
    clang-format
    cmake
    cpio
    cpuset
    doxygen
    e2fsprogs
    ffmpeg
    fonts-dejavu-core
    g++
    gcc-aarch64-linux-gnu
    gcc-arm-none-eabi
    gcc-riscv64-unknown-elf
    kamailio
    kamailio-tls-modules
    lame
    libasound2-dev
    libavcodec-dev
    libavformat-dev
    libavutil-dev
    libclang-rt-14-dev
    libc6-dev-arm64-cross
    libnewlib-arm-none-eabi
    libopus-dev
    libre-dev
    librem-dev
    libsoapysdr-dev
    libspandsp-dev
    libspeexdsp-dev
    libssl-dev
    libswscale-dev
    libturbojpeg0
    libzvbi0
    lintian
    mencoder
    mmdebstrap
    openssl
    perl
    picolibc-aarch64-linux-gnu
    picolibc-riscv64-unknown-elf
    pkg-config
    python3-dev
    python3-matplotlib
    python3-numpy
    python3-scapy
    python3-scipy
    python3-tomlkit
    python3-venv
    qemu-system-arm
    qemu-system-x86
    qemu-user
    rt-app
    sip-tester
    spin
    tcc
    tcpdump
    tshark
    valgrind
'

missing=''
for package in $packages; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed ||
        missing="$missing $package"
done

run=''
[ "$(id -u)" = 0 ] || run='sudo'
if [ -n "$missing" ]; then
    if [ -n "$run" ] && ! command -v sudo >/dev/null; then
        echo "these packages are missing; as root: apt-get install --no-install-recommends$missing" >&2
        exit 1
    fi
    $run apt-get update -qq
    # The tests start the SIP server themselves. Its service, which would listen at every address, is
    # masked before there is one; `systemctl unmask kamailio` gives it back.
    case "$missing " in
        *' kamailio '*) $run mkdir -p /etc/systemd/system && $run ln -sf /dev/null /etc/systemd/system/kamailio.service ;;
    esac
    # shellcheck disable=SC2086  # one word per package
    $run env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing
fi

if ! command -v cargo >/dev/null; then
    echo 'cargo is missing: install Rust 1.85 or newer, for example with rustup' >&2
    exit 1
fi
for component in fmt clippy; do
    cargo "$component" --version >/dev/null 2>&1 || rustup component add rustfmt clippy
done

# For the tests that run in an emulated AArch64 processor.
target=aarch64-unknown-linux-gnu
[ -d "$(rustc --print target-libdir --target "$target")" ] || rustup target add "$target"

# For the tests in a guest; a kernel for it, unpacked and not installed. An old list of packages may name
# one that the archive has no more.
if [ "$(uname -m)" = x86_64 ] && ! tests/guest/fetch_kernel.sh build/guest; then
    $run apt-get update -qq
    tests/guest/fetch_kernel.sh build/guest
fi

make --no-print-directory build/venv/bin/python build/py/bin/python
echo 'everything is here: make test'
