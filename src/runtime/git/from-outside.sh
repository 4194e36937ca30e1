# Runs git without the variables that the first argument names, and not from the virtual environment of a workspace: a
# repository may bring one, with a git of its own.
unset $1
shift
set -f
IFS=:
outside=
for directory in $PATH; do
  case $directory in
    "${VIRTUAL_ENV:-/dev/null}"/* | [!/]* | '') ;;
    *) outside=$outside:$directory ;;
  esac
done
unset IFS
[ -z "$outside" ] || PATH=${outside#:}
exec "$@"
