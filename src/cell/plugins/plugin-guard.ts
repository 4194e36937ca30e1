/**
 * Words of a shell that replace it by a program, with a watcher beside it that kills the whole group when standard
 * input ends: when this side closes it, or dies. The watcher is no child of the program, which would wait for it before
 * it ends.
 */
export const guard = 'exec 3<&0; ((read -r _ <&3; kill -9 0) &); exec "$@" </dev/null 3<&-';
