/**
 * Words of a shell that run a program in its own place and a watcher beside it that ends the whole group when standard
 * input ends: when this side lets go of it, on purpose or because it was killed itself. The watcher is no child of the
 * program, which would wait for it before it ends.
 */
export const guard = 'exec 3<&0; ((read -r _ <&3; kill -9 0) &); exec "$@" </dev/null 3<&-';
