#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A machine that consists of a root's archive: it lies in memory, mounted for its own processes only, and
# ends with the process that started this, whatever ends that. Says `ready`, and then waits.
#
#   tests/release/machine.sh ROOT.tar FOLDER
#
# Without root's rights it takes a namespace of users, with the numbers of /etc/subuid.
set -eu
[ "$(id -u)" = 0 ] && rights= || rights='--map-root-user --map-auto'

# shellcheck disable=SC2016,SC2086  # the inner shell's; one word per option
exec setpriv --pdeathsig KILL unshare $rights --mount --propagation private --pid --fork --kill-child sh -ec '
    mount -t tmpfs -o mode=755 tmpfs "$2"
    tar -C "$2" --exclude="./dev/*" -xf "$1"
    cd "$2"
    mount -t proc proc proc
    mount -t tmpfs tmpfs dev
    for name in full null random urandom zero; do
        : > dev/$name
        mount --bind /dev/$name dev/$name
    done
    mkdir -m 1777 dev/shm dev/pts
    mount -t devpts devpts dev/pts -o newinstance,ptmxmode=0666
    ln -s pts/ptmx dev/ptmx
    ln -s /proc/self/fd dev/fd
    exec chroot . sh -c "echo ready; exec sleep infinity"
' - "$@"
