#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a command in a folder as the root of a machine of its own: its processes and what is mounted there
# end with it. Without root's rights it takes a namespace of users, with the numbers of /etc/subuid.
#
#   tests/deb/enter.sh FOLDER COMMAND...
set -eu
[ "$(id -u)" = 0 ] && rights= || rights='--map-root-user --map-auto'

# shellcheck disable=SC2016,SC2086  # the inner shell's; one word per option
exec setpriv --pdeathsig KILL unshare $rights --mount --propagation private --pid --fork --kill-child sh -c '
    root=$1
    shift
    mount -t proc proc "$root/proc"
    mount -t tmpfs tmpfs "$root/dev"
    for name in full null random urandom zero; do
        : > "$root/dev/$name"
        mount --bind "/dev/$name" "$root/dev/$name"
    done
    mkdir -p -m 1777 "$root/dev/shm" "$root/dev/pts"
    mount -t devpts devpts "$root/dev/pts" -o newinstance,ptmxmode=0666
    ln -s pts/ptmx "$root/dev/ptmx"
    ln -s /proc/self/fd "$root/dev/fd"
    exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"
' - "$@"
