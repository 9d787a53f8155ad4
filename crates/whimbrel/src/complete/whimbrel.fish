# SPDX-License-Identifier: Apache-2.0
# Completes whimbrel in fish with what the command itself proposes.

function __whimbrel_complete
    set -l words (commandline --current-process --tokenize --cut-at-cursor)
    set -l begun (commandline --current-token --cut-at-cursor)
    set -l command (string replace --regex '^~/' "$HOME/" -- $words[1])
    set -l lines ($command --complete fish (count $words) $words "$begun" 2>/dev/null </dev/null)
    printf '%s\n' $lines[2..]
    # An option's value is completed behind its =.
    set -l value (string replace --regex '^--[a-z-]+=' '' -- "$begun")
    set -l option (string match --regex '^--[a-z-]+=' -- "$begun")
    set -l files
    switch "$lines[1]"
        case ''
        case commands
            set files (__fish_complete_command)
        case /
            set files (__fish_complete_directories "$value")
        case files
            set files (__fish_complete_path "$value")
        case '*'
            for ending in (string split ' ' -- $lines[1])
                set --append files (__fish_complete_suffix --complete="$value" $ending)
            end
    end
    for file in $files
        printf '%s\n' "$option$file"
    end
end

complete --command whimbrel --no-files --arguments '(__whimbrel_complete)'
