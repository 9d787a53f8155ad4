#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Removes from programs and modules what debuggers read. The symbols of a program of tasks (.task) stay:
# kernels find its tasks by them, and those of modules and helpers by their dynamic symbols.
#
#   tools/install/strip.sh PREFIX
set -eu
cd "$1"
strip bin/whimbrel libexec/whimbrel/whimbrel-linux libexec/whimbrel/whimbrel-sim libexec/whimbrel/whimbrel-bench \
    libexec/whimbrel/build/apps/fm_plain
find libexec -name '*.so' -exec strip --strip-unneeded {} +
find libexec -name '*.task' -exec strip --strip-debug {} +
