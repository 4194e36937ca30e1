# Starts Chromium: $1 a directory for what it writes, $2 a name in it, $3 the program or nothing, then its flags. Before this
# stands `find_chromium`. The pipes that Chromium wants as descriptors 3 and 4 are its own standard input and output here. It
# keeps its own sandbox where it can have one, which needs a user other than root and namespaces that it may make. What it
# writes goes where the cell cleans up by itself. Its sockets lie among its temporary files and need short paths, so these are
# named by the directory that it works in.
home=$1/$2
mkdir -m 700 "$home" 2>/dev/null || { home=${TMPDIR:-/tmp}/$2; mkdir -m 700 "$home" || exit; }
cd "$home" || exit
export HOME="$home" XDG_CONFIG_HOME="$home" XDG_CACHE_HOME="$home" TMPDIR=/proc/self/cwd
program=$3
[ -n "$program" ] || program=$(find_chromium)
shift 3
own=--no-sandbox
[ "$(id -u)" != 0 ] && unshare --user --pid --fork true 2>/dev/null && own=--disable-setuid-sandbox
# Chromium trusts what it brings along. The hosts whose TLS the network rules open have a key of the cell's own.
key=/run/workcell-trust/key-hash
[ -r "$key" ] && set -- "--ignore-certificate-errors-spki-list=$(cat "$key")" "$@"
exec 3<&0 4>&1 </dev/null >&2
exec "$program" "$own" --user-data-dir="$home/profile" "$@"
