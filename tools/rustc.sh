#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Cargo runs rustc through this (crates/.cargo/config.toml): panics then name the files of other crates
# from /crates, wherever Cargo keeps them, so that two users' programs have the same bytes. In bash: dash
# drops variables of the environment whose names have a hyphen, as CARGO_BIN_EXE_whimbrel-occupy.
for sources in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*; do
    set -- "$@" "--remap-path-prefix=$sources=/crates"
done
# Tests in a folder of their own compute nothing: what they call is in crates that are optimised.
case " $* " in
    *"/tests/"*".rs "*" opt-level=1 "*" --test "*) set -- "$@" -C opt-level=0 -C debug-assertions=off ;;
esac
exec "$@"
