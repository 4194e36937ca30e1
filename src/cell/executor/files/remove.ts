import { lstatSync, renameSync, rmdirSync } from 'node:fs';
import { Pace } from '../../../base/pace.js';
import { at, type Directory, type Name } from './directory.js';
import { explained, isErrno, problem, quote, refusal } from './file-errors.js';
import type { Tree } from './file-tree.js';
import { unlinkFile } from './free-space.js';
import { hiddenName } from './new-file.js';
import { listEntries } from './read-entries.js';
import type { Place } from './resolve-beneath.js';

/** How many levels are open at once; move deeper ones up first. */
const openLevels = 64;
const maxRounds = 10_000;

export interface RemoveOptions {
  readonly recursive?: boolean | undefined;
  readonly force?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Removes the entry at the path. Removes a link itself, never its target. */
export function remove(
  tree: Tree,
  path: string,
  options: RemoveOptions,
): Promise<{ path: string; removed: boolean }> {
  return explained('remove', path, async () => {
    let place: Place;
    try {
      place = tree.resolve(path, { follow: false });
    } catch (error) {
      if (options.force && isErrno(error, 'ENOENT'))
        return { path: tree.space.absolute(path), removed: false };
      throw error;
    }
    using target = place;
    checkNotRoot(target, path, 'removed');
    const stats = lstatSync(at(target.directory, target.name), { throwIfNoEntry: false });
    if (stats === undefined && options.force) return { path: target.path, removed: false };
    if (stats === undefined) throw refusal('ENOENT');
    if (!stats.isDirectory()) unlinkFile(at(target.directory, target.name));
    else if (options.recursive) await removeTree(target.directory, target.name, new Pace(options.signal));
    else rmdirSync(at(target.directory, target.name));
    return { path: target.path, removed: true };
  });
}

/** The agent may not remove the directory that holds the cell's files. */
export function checkNotRoot(place: Place, path: string, verb: string): void {
  if (place.name !== '.') return;
  throw problem(
    'permission-denied',
    `${quote(path)} is the root of the cell's files and cannot be ${verb}.`,
    path,
  );
}

/** Removes a file, a link or a whole directory. */
export async function removeTree(parent: Directory, name: Name, pace: Pace): Promise<void> {
  if (tryUnlink(parent, name)) return;
  const top = parent.open(name);
  try {
    // Rounds repeat while deeper parts move up, or while a process in the cell adds new files.
    for (let round = 0; round < maxRounds; round++) {
      await empty(top, top, 1, pace);
      if (tryRemoveDirectory(parent, name)) return;
    }
  } finally {
    top.close();
  }
  throw refusal('ENOTEMPTY');
}

async function empty(directory: Directory, top: Directory, depth: number, pace: Pace): Promise<void> {
  // The next round sees the names beyond those that one round reads.
  const { entries } = await listEntries(directory, pace);
  for (const entry of entries) {
    await pace.step();
    if (!entry.isDirectory && tryUnlink(directory, entry.name)) continue;
    if (depth >= openLevels) {
      ignoreMissing(() => renameSync(at(directory, entry.name), at(top, hiddenName())));
      continue;
    }
    const child = ignoreMissing(() => directory.open(entry.name));
    if (child === undefined) continue;
    try {
      await empty(child, top, depth + 1, pace);
    } finally {
      child.close();
    }
    tryRemoveDirectory(directory, entry.name);
  }
}

/** True when it removed the name; false when that is a directory. */
function tryUnlink(directory: Directory, name: Name): boolean {
  try {
    unlinkFile(at(directory, name));
    return true;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return true;
    if (isErrno(error, 'EISDIR')) return false;
    // Some systems answer EPERM for a directory.
    if (isErrno(error, 'EPERM') && lstatSync(at(directory, name)).isDirectory()) return false;
    throw error;
  }
}

/** False when the directory is not empty yet. */
function tryRemoveDirectory(directory: Directory, name: Name): boolean {
  try {
    rmdirSync(at(directory, name));
    return true;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return true;
    if (isErrno(error, 'ENOTEMPTY', 'EEXIST')) return false;
    throw error;
  }
}

/** A process in the cell may replace what we just saw; the next round sees the new state. */
function ignoreMissing<T>(operation: () => T): T | undefined {
  try {
    return operation();
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}
