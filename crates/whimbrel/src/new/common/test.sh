#!/bin/sh
# Runs the application in the simulator and on Linux while its filter moves, and checks that every
# sample arrived: `make test`.
#
#   sh test.sh [WHIMBREL]
set -eu
cd "$(dirname "$0")"
whimbrel=${1:-whimbrel}
# Both cores of the run are one processor, which every machine has.
processor=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)

check() {  # WORD...: of the command
    status=0
    said=$("$whimbrel" "$@" --shuttle filter=1,0@100ms --quiet 2>&1) || status=$?
    case $status:$said in
    0:*'after move '*'200 samples, none lost, sum 4639'*) echo "ok: whimbrel $1" ;;
    *)
        printf '%s\nFAILED: whimbrel %s: status %s\n' "$said" "$*" "$status" >&2
        exit 1
        ;;
    esac
}

check sim app.toml
check run app.toml --cores "$processor,$processor"
