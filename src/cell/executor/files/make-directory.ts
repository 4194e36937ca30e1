import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { at } from './directory.js';
import { explained, isErrno, refusal } from './file-errors.js';
import type { Tree } from './file-tree.js';

/** Makes a directory and its parents. `mode` is for the directory itself when it is new. */
export function makeDirectory(tree: Tree, path: string, mode = 0o755): { path: string; created: boolean } {
  return explained('make the directory', path, () => {
    using place = tree.resolve(path, { follow: true, create: true });
    try {
      mkdirSync(at(place.directory, place.name), mode);
    } catch (error) {
      if (!isErrno(error, 'EEXIST')) throw error;
      const existing = place.name === '.' ? undefined : lstatSync(at(place.directory, place.name));
      if (existing !== undefined && !existing.isDirectory()) throw refusal('EEXIST');
      return { path: place.path, created: false };
    }
    applyMode(place.directory.open(place.name), mode);
    return { path: place.path, created: true };
  });
}

/** The umask of this process narrows the mode of `mkdir`, and the cell does not know that umask. */
function applyMode(directory: { base: string; close(): void }, mode: number): void {
  try {
    chmodSync(directory.base, mode);
  } finally {
    directory.close();
  }
}
