#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Puts what `make build` made below a prefix, and takes it away again.
#
#   tools/install/install.sh install|stage|uninstall PREFIX
#
# The command finds everything from its own place, so that the tree may be moved. share/whimbrel/manifest
# lists what was installed, also the folders that were not there before (with `/` at the end): this alone is
# removed by `uninstall`, and before another version is installed. `stage` fills an empty folder for a
# package, which has a list of its own.
#
# INSTALL_FROM: where the applications' modules are, build. MODULES: which of them.
set -eu
umask 022
cd "$(dirname "$0")/../.."

INSTALL_FROM=${INSTALL_FROM:-build}
MODULES=${MODULES:-fm_radio fm_radio_live hello image_filter mixed packets round_trips synthetic video video_any voip}
MANIFEST=share/whimbrel/manifest
# What images and programs are built from. The SoC's model is built and run in a source tree, and the
# applications are tested there.
SOURCES='apps bench/mixed bench/sim boards clients/python kernels launcher middleware platforms'
WITHOUT='.* __pycache__ apps/*.py apps/*/test apps/fm_radio/fm_radio.wav boards/boards.mk boards/rv32_soc kernels/riscv kernels/sim
    middleware/model'

refuse() {
    printf 'error: %s\nhelp: %s\n' "$1" "$2" >&2
    exit 1
}

put() {  # MODE FOLDER FILE...
    mode=$1 folder=$2
    shift 2
    for file; do
        [ -f "$file" ] || refuse "$file does not exist" 'run `make build` first'
    done
    install -D -m "$mode" -t "$stage/$folder" "$@"
}

stage_built() {
    put 755 bin bin/whimbrel
    put 755 libexec/whimbrel bin/whimbrel-linux bin/whimbrel-sim bin/whimbrel-bench bin/whimbrel-bench.task
    put 755 libexec/whimbrel/build/apps "$INSTALL_FROM/apps/fm_plain"
    # Its path is another: what it is measured beside has the same name.
    put 644 libexec/whimbrel/build/bench/apps "$INSTALL_FROM/bench/apps/fm_radio.so"
    for name in $MODULES; do
        [ -f "$INSTALL_FROM/apps/$name.so" ] && put 644 libexec/whimbrel/build/apps "$INSTALL_FROM/apps/$name.so"
        [ -f "$INSTALL_FROM/apps/$name.task" ] && put 755 libexec/whimbrel/build/apps "$INSTALL_FROM/apps/$name.task"
    done
    bin/whimbrel --write-pages "$stage"
}

stage_development() {
    put 644 lib build/release/libwhimbrel-client.a
    put 644 include clients/c/whimbrel_client.h
    put 644 include/wb middleware/include/wb/*
    put 644 lib/pkgconfig tools/install/whimbrel.pc tools/install/whimbrel-client.pc
    put 644 lib/cmake/whimbrel tools/install/whimbrel-config.cmake tools/install/whimbrel-config-version.cmake
    version=$(sed -n 's/^version = "\(.*\)"/\1/p' crates/Cargo.toml | head -n 1)
    sed -i "s/@VERSION@/$version/" "$stage"/lib/pkgconfig/whimbrel*.pc "$stage"/lib/cmake/whimbrel/*
}

stage_sources() {
    mkdir -p "$stage/share/whimbrel"
    set -f
    excluded=
    for name in $WITHOUT; do excluded="$excluded --exclude=$name"; done
    tar --mode=u+rw,go+rX,go-w --owner=0 --group=0 $excluded -cf - $SOURCES | tar -C "$stage/share/whimbrel" -xmf -
    set +f
    put 644 share/whimbrel/clients/rust build/rust-client/Cargo.toml
    put 644 share/whimbrel/clients/rust/src build/rust-client/src/*.rs
}

# The crate of tasks in Rust, which is of no workspace there.
stage_crate() {
    crate=share/whimbrel/crates/task
    put 644 $crate crates/task/Cargo.toml
    put 644 $crate/src crates/task/src/*.rs
    sed -i '/^\[lints\]/,$d' "$stage/$crate/Cargo.toml"
    for key in version edition rust-version license; do
        value=$(sed -n "s/^$key = //p" crates/Cargo.toml | head -n 1)
        sed -i "s|^$key.workspace = true|$key = $value|" "$stage/$crate/Cargo.toml"
    done
}

stage_documents() {
    put 644 share/doc/whimbrel README.md CHANGELOG.md LICENSE NOTICE build/third-party.txt
    put 644 share/doc/whimbrel/LICENSES LICENSES/*.txt
    put 644 share/doc/whimbrel/docs docs/*.md docs/*.svg
}

stage_all() {
    stage_built
    stage_development
    stage_sources
    stage_crate
    stage_documents
}

# Whether all folders that are written to can be.
check_writable() {
    (cd "$stage" && find . -type d) | while read -r folder; do
        if [ -e "$prefix/$folder" ] && ! [ -w "$prefix/$folder" ]; then
            refuse "$prefix/${folder#./} cannot be written to" "$cure"
        fi
    done
}

remove() {
    cd "$prefix"
    grep -v '/$' "$MANIFEST" | tr '\n' '\0' | xargs -0 rm -f --
    folders=$(grep '/$' "$MANIFEST" | sort -r)
    rm -f "$MANIFEST"
    printf '%s\n' "$folders" | tr '\n' '\0' | xargs -0 rmdir --ignore-fail-on-non-empty -- 2>/dev/null || true
    cd "$OLDPWD"
    if printf '%s\n' "$folders" | grep -qx './'; then rmdir --ignore-fail-on-non-empty "$prefix"; fi
}

install_all() {
    cure='`sudo make install` with the same variables, or a folder of yours: make install PREFIX=$HOME/.local'
    stage=$(mktemp -d)
    trap 'rm -rf "$stage"' EXIT
    stage_all
    made=$([ -d "$prefix" ] || echo ./)
    mkdir -p "$prefix" 2>/dev/null || refuse "$prefix cannot be made" "$cure"
    check_writable
    if [ -f "$prefix/$MANIFEST" ]; then
        made=$(grep -x './' "$prefix/$MANIFEST" || true)
        remove
        mkdir -p "$prefix"
    fi
    list=$(cd "$stage" && {
        [ -z "$made" ] || echo "$made"
        find . -mindepth 1 -type d -printf '%P\n' | while read -r folder; do
            [ -d "$prefix/$folder" ] || echo "$folder/"
        done
        find . ! -type d -printf '%P\n'
    })
    mkdir -p "$prefix/${MANIFEST%/*}"
    printf '%s\n' "$list" > "$prefix/$MANIFEST"
    cp -R --preserve=mode,links --remove-destination "$stage/." "$prefix"
    echo "Whimbrel is installed: $prefix/bin/whimbrel"
}

[ $# -eq 2 ] || refuse "$# arguments" 'tools/install/install.sh install|stage|uninstall PREFIX'
prefix=$(realpath --no-symlinks --canonicalize-missing "$2")
case $1 in
    install) install_all ;;
    stage) stage=$prefix; stage_all ;;
    uninstall)
        [ -f "$prefix/$MANIFEST" ] || refuse "there is no Whimbrel below $prefix: no $MANIFEST" \
            'name its place: make uninstall PREFIX=... DESTDIR=...'
        [ -w "$prefix/${MANIFEST%/*}" ] || refuse "$prefix cannot be written to" '`sudo make uninstall` with the same variables'
        remove ;;
    *) refuse "unknown: $1" 'install, stage or uninstall' ;;
esac
