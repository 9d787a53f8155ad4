#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints what the programs contain of others: crates that the command is made of, and what lies in the
# tree. Each comes with its licence; the text of the Apache License is in LICENSE already.
set -eu
cd "$(dirname "$0")/../.."

show() {  # NAME FILE...: the files that exist
    printf '\n==== %s\n' "$1"
    shift
    for file; do
        if [ -f "$file" ] && ! head -n 3 "$file" | grep -q 'Apache License'; then
            printf '\n---- %s\n\n' "${file##*/}"
            cat "$file"
        fi
    done
}

show yyjson launcher/third_party/yyjson/LICENSE
for licence in crates/report/assets/*.LICENSE; do
    show "$(basename "$licence" .LICENSE)" "$licence"
done
crates=${CARGO_HOME:-$HOME/.cargo}/registry/src
cd crates
cargo tree --locked --package whimbrel --package whimbrel-engine --edges normal --prefix none --format '{p}|{l}|{r}' |
    sed 's/ (\*)$//; s/ (proc-macro)//' | grep '^[a-z]' | grep -v '^[^|]* (/' | sort -u |
    while IFS='|' read -r package licence repository; do
        folder=$(echo "$package" | sed 's/ v/-/')
        show "$package: $licence, $repository" "$crates"/*/"$folder"/[LC][IO][CP][EY][NR]*
    done
