#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the folder of the decoder's sources: JPEG_PATH, or what Cargo.toml names, fetched if need be.
set -eu

if [ -z "${JPEG_PATH:-}" ]; then
    cd "$(dirname "$0")"
    command -v cargo >/dev/null || {
        echo 'cargo is missing, which fetches the JPEG decoder: install Rust, or set JPEG_PATH' >&2
        exit 1
    }
    manifest=$(cargo metadata --locked --format-version 1 | grep -o '"[^"]*/mozjpeg-sys-[^"/]*/Cargo.toml"')
    manifest=${manifest#\"}
    JPEG_PATH=${manifest%/Cargo.toml\"}/vendor
fi
[ -e "$JPEG_PATH/jdapimin.c" ] || {
    echo "JPEG_PATH is \"$JPEG_PATH\", which has no jdapimin.c: name a folder of libjpeg-turbo 2.1" >&2
    exit 1
}
echo "$JPEG_PATH"
