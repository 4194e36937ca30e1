import { posix } from 'node:path';
import { RpcError } from '../e2b-errors.js';

/** A path as clients write it: relative ones, and those with `~`, begin in the home directory. */
export function insidePath(path: string, home: string): string {
  if (path.includes('\0')) throw new RpcError('invalid_argument', 'A path must not contain a NUL character.');
  if (path === '' || path === '~') return home;
  if (path.startsWith('~/')) return posix.join(home, path.slice(2));
  if (path.startsWith('~'))
    throw new RpcError('invalid_argument', `cannot expand the home of another user: ${path}`);
  return path.startsWith('/') ? posix.normalize(path) : posix.join(home, path);
}
