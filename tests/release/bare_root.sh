#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes a root of Debian with nothing but apt, and beside it what apt fetches to install PACKAGE there:
# the tests then need no network. From the archive that this machine's apt takes Debian from.
#
#   tests/deb/bare_root.sh PACKAGE INTO.tar
set -eu
package=$1 into=$2

refuse() {
    printf 'error: %s\nhelp: %s\n' "$1" "$2" >&2
    exit 1
}

command -v mmdebstrap >/dev/null || refuse 'mmdebstrap not found: it makes the root that the package is tried in' \
    'install it: make setup'
# Other files name the archives of others.
for sources in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
    [ -s "$sources" ] && break
done
suite=$(. /etc/os-release; echo "$VERSION_CODENAME")
# As this machine's apt reaches it.
apt=$(mktemp)
trap 'rm -f "$apt"' EXIT
apt-config --format='%F "%v";%n' dump | grep -i '^Acquire::\([a-z]*::proxy\|check-\)' > "$apt" || true
mkdir -p "$(dirname "$into")"
mmdebstrap --quiet --variant=apt --format=tar --skip=cleanup/apt --aptopt="$apt" --dpkgopt=force-unsafe-io \
    --customize-hook="copy-in '$package' /root" \
    --customize-hook='chroot "$1" sh -c "apt-get install -qq --download-only /root/*.deb && rm /root/*.deb"' \
    "$suite" "$into.new" "$sources" ||
    refuse "a bare root of $suite cannot be made from $sources" 'check that `apt-get update` reaches its archive'
mv "$into.new" "$into"
