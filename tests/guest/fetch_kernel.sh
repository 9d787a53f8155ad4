#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: fetch_kernel.sh FOLDER     Debian's kernel for FOLDER/kernel, once; nothing is installed.
set -eu

[ ! -d "$1/kernel" ] || exit 0
rm -rf "$1/fetched"
mkdir -p "$1/fetched"
cd "$1/fetched"
# The package of the newest kernel for virtual machines is empty, and depends on the kernel's own.
package="$(apt-cache depends --important linux-image-cloud-amd64 | sed -n 's/.*Depends: //p' | head -1)"
[ -n "$package" ] || { echo 'no kernel is found: apt-get update' >&2; exit 1; }
# As root, apt-get says that its own user may not write here; it fetches all the same.
apt-get download -qq "$package" 2>/dev/null || apt-get download -qq "$package"
dpkg-deb -x "$package"_*.deb kernel.part
rm -rf ./*.deb
mv kernel.part ../kernel
cd .. && rmdir fetched
