import { lstatSync } from 'node:fs';
import { Pace } from '../../../base/pace.js';
import { at, type Directory, type Entry, type Name } from './directory.js';
import { explained, isErrno, problem, quote, refusal } from './file-errors.js';
import type { Tree } from './file-tree.js';
import { removeDirectory, renameFile, unlinkFile } from './free-space.js';
import { hiddenName } from './new-file.js';
import { listEntries } from './read-entries.js';
import type { Place } from './resolve-beneath.js';

/** How many levels are open at once; move deeper ones up first. */
const openLevels = 64;
const maxRounds = 10_000;
const batch = 64;
/** How many names of one tree are taken away at once. */
const lanes = 2;

export interface RemoveOptions {
  readonly recursive?: boolean | undefined;
  readonly force?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Removed {
  readonly path: string;
  readonly removed: boolean;
}

/** Removes the entry at the path. Removes a link itself, never its target. */
export function remove(tree: Tree, path: string, options: RemoveOptions): Promise<Removed> {
  return explained('remove', path, async () => {
    const begun = await tree.inOrder(() => begin(tree, path, options));
    if ('removed' in begun) return begun;
    using target = begun;
    await removeTree(target.directory, target.name, new Pace(options.signal));
    return { path: target.path, removed: true };
  });
}

/** Removes what goes at once; else returns the tree to remove, which the caller disposes of. */
async function begin(
  tree: Tree,
  path: string,
  { recursive, force }: RemoveOptions,
): Promise<Removed | Place> {
  let target: Place;
  try {
    target = tree.resolve(path, { follow: false });
  } catch (error) {
    if (force && isErrno(error, 'ENOENT')) return { path: tree.space.absolute(path), removed: false };
    throw error;
  }
  let isTree = false;
  try {
    checkNotRoot(target, path, 'removed');
    const entry = at(target.directory, target.name);
    const stats = lstatSync(entry, { throwIfNoEntry: false });
    if (stats === undefined && !force) throw refusal('ENOENT');
    if (stats === undefined) return { path: target.path, removed: false };
    isTree = stats.isDirectory() && recursive === true;
    if (isTree) return target;
    await (stats.isDirectory() ? removeDirectory(entry) : unlinkFile(entry));
    return { path: target.path, removed: true };
  } finally {
    if (!isTree) target[Symbol.dispose]();
  }
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
  if (await tryUnlink(parent, name)) return;
  const top = parent.open(name);
  try {
    // Rounds repeat while deeper parts move up, or while a process in the cell adds new files.
    for (let round = 0; round < maxRounds; round++) {
      await empty(top, top, 1, pace);
      if (await tryRemoveDirectory(parent, name)) return;
    }
  } finally {
    top.close();
  }
  throw refusal('ENOTEMPTY');
}

async function empty(directory: Directory, top: Directory, depth: number, pace: Pace): Promise<void> {
  // The next round sees the names beyond those that one round reads.
  const { entries } = await listEntries(directory, pace);
  for (let start = 0; start < entries.length; start += batch) {
    for (const name of await unlinkAll(directory, entries.slice(start, start + batch))) {
      await pace.step();
      await emptyBelow(directory, name, top, depth, pace);
    }
    await pace.step();
  }
}

async function emptyBelow(
  directory: Directory,
  name: Name,
  top: Directory,
  depth: number,
  pace: Pace,
): Promise<void> {
  if (depth >= openLevels) {
    await renameFile(at(directory, name), at(top, hiddenName())).catch(ignoreMissing);
    return;
  }
  const child = tryOpen(directory, name);
  if (child === undefined) return;
  try {
    await empty(child, top, depth + 1, pace);
  } finally {
    child.close();
  }
  await tryRemoveDirectory(directory, name);
}

/** Two at once, because each takes a round through the pool. Returns the names of directories. */
async function unlinkAll(directory: Directory, entries: readonly Entry[]): Promise<Name[]> {
  const left = entries.values();
  const directories: Name[] = [];
  const work = async () => {
    for (const { name, isDirectory } of left)
      if (isDirectory || !(await tryUnlink(directory, name))) directories.push(name);
  };
  const outcomes = await Promise.allSettled(Array.from({ length: lanes }, work));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  return directories;
}

/** True when it removed the name; false when that is a directory. */
async function tryUnlink(directory: Directory, name: Name): Promise<boolean> {
  try {
    await unlinkFile(at(directory, name));
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
async function tryRemoveDirectory(directory: Directory, name: Name): Promise<boolean> {
  try {
    await removeDirectory(at(directory, name));
    return true;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return true;
    if (isErrno(error, 'ENOTEMPTY', 'EEXIST')) return false;
    throw error;
  }
}

/** A process in the cell may replace what we just saw; the next round sees the new state. */
function ignoreMissing(error: unknown): undefined {
  if (!isErrno(error, 'ENOENT', 'ENOTDIR')) throw error;
}

function tryOpen(directory: Directory, name: Name): Directory | undefined {
  try {
    return directory.open(name);
  } catch (error) {
    return ignoreMissing(error);
  }
}
