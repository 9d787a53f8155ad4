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
    set -l endings (string split ' ' -- $lines[1])
    switch "$lines[1]"
        case ''
            return
        case commands
            __fish_complete_command
            return
        case files
            set endings ''
    end
    # Of a command that has no completions, any file is one.
    for file in (complete --do-complete "__whimbrel_file $value")
        set -l name (string split --fields 1 \t -- $file)
        for ending in / $endings
            if string match --quiet -- "*$ending" $name
                printf '%s\n' "$option$file"
                break
            end
        end
    end
end

complete --command whimbrel --no-files --arguments '(__whimbrel_complete)'
