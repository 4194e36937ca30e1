function __workcell_cells
    set -l words (commandline -opc)
    $words[1] cells --json 2>/dev/null | string match -rga '"id":"([a-z0-9]+)"'
end

# Whether the words before the cursor lead to this command.
function __workcell_at
    set -l words (commandline -opc)
    set -l path
    for word in $words[2..]
        contains -- (string join -- ' ' $path $word) $__workcell_commands; or break
        set path $path $word
    end
    test "$path" = "$argv"
end
