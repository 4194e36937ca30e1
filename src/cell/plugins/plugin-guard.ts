/**
 * Words of a shell that replace it by a program, with a watcher beside it. The watcher kills the whole group when
 * standard input ends: when this side closes it, or dies. It is no child of the program, because the program would
 * wait for it before ending.
 */
export const guard = 'exec 3<&0; ((read -r _ <&3; kill -9 0) &); exec "$@" </dev/null 3<&-';
