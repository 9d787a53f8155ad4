# SPDX-License-Identifier: Apache-2.0
# Completes whimbrel in bash with what the command itself proposes.

_whimbrel() {
    local line files name ending begun=${2#[\"\']}
    local -a words=("${COMP_WORDS[@]}") proposed=()
    begun=${begun//\\/}
    # A word that is broken at = or : is replaced from there on.
    [[ ${words[COMP_CWORD]} == [=:]* ]] || words[COMP_CWORD]=$2
    while IFS= read -r line; do
        proposed+=("${line%%$'\t'*}")
    done < <("${1/#'~/'/$HOME/}" --complete bash "$COMP_CWORD" "${words[@]}" 2>/dev/null </dev/null)
    files=${proposed[0]}
    COMPREPLY=("${proposed[@]:1}")
    case $files in
        '') ;;
        commands) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -c -- "$begun") ;;
        *)
            # Names are quoted by bash, and a folder goes on. It fails where no key was pressed.
            compopt -o filenames 2>/dev/null
            while IFS= read -r name; do
                if [[ $files == files || -d ${name/#'~/'/$HOME/} ]]; then
                    COMPREPLY+=("$name")
                    continue
                fi
                for ending in $files; do
                    [[ $name == *"$ending" ]] && COMPREPLY+=("$name")
                done
            done < <(compgen -f -- "$begun")
            ;;
    esac
}

complete -F _whimbrel whimbrel
