#compdef whimbrel
# SPDX-License-Identifier: Apache-2.0
# Completes whimbrel in zsh with what the command itself proposes.

_whimbrel() {
    local line
    local -a lines described endings
    lines=("${(@f)$("${~${(Q)words[1]}}" --complete zsh $((CURRENT - 1)) "${(@Q)words}" 2>/dev/null </dev/null)}")
    for line in "${(@)lines[2,-1]}"; do
        described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    (( $#described )) && _describe -V whimbrel described
    case $lines[1] in
        '') ;;
        commands) _command_names -e ;;
        /) _files -/ ;;
        files) _files ;;
        *)
            endings=(${=lines[1]})
            _files -g "*(${(j:|:)endings})"
            ;;
    esac
}

_whimbrel "$@"
