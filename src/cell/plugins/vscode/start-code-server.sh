# Prepares code-server: $1 a directory for what it writes, $2 a name in it, then the program and its flags, which the words
# behind this run. What it writes goes where the cell cleans up by itself; without a configuration of its own it would make one.
home=$1/$2
mkdir -m 700 "$home" 2>/dev/null || { home=${TMPDIR:-/tmp}/$2; mkdir -m 700 "$home" || exit; }
shift 2
mkdir -p "$home/data/User"
printf %s "$VSCODE_SETTINGS" >"$home/data/User/settings.json"
echo 'auth: none' >"$home/config.yaml"
unset VSCODE_SETTINGS VSCODE_IPC_HOOK_CLI
export XDG_DATA_HOME="$home" XDG_RUNTIME_DIR="$home"
set -- "$@" --config "$home/config.yaml" --user-data-dir "$home/data" --extensions-dir "$home/extensions"
