# Index and objects go to a directory of their own, which ends with the script: nothing of the repository is touched. The
# patch is encoded because files may have any bytes.
objects=$(git rev-parse --path-format=absolute --git-path objects) || exit
own=$(mktemp -d) || exit
trap 'rm -rf "$own"' EXIT
mkdir "$own/objects" || exit
export GIT_INDEX_FILE="$own/index" GIT_OBJECT_DIRECTORY="$own/objects" GIT_ALTERNATE_OBJECT_DIRECTORIES="$objects"
git read-tree "$2" &&
  git add --all --pathspec-from-file=- --pathspec-file-nul &&
  git --no-pager diff --cached --binary --no-renames --no-ext-diff --no-textconv --no-color "$2" > "$own/patch" &&
  base64 "$own/patch"
