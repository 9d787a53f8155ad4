#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a program must have been built of to fit a kernel, as a number: usage: layout.sh HEADER...
#
# A hash of the headers without their comments and spaces. Sizes alone do not tell two fields that
# have changed places, and C cannot name the fields of a struct.
set -e
hash=$(sed 's://.*$::' "$@" | tr -d ' \t\n' | sha256sum | cut -c 1-16)
echo '#include <stdint.h>'
echo
echo 'extern const uint64_t hosted_headers;'
echo "const uint64_t hosted_headers = 0x$hash;"
