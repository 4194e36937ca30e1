import {
  accessSync,
  constants,
  fchmod,
  fstatSync,
  ftruncate,
  lstatSync,
  openSync,
  type Stats,
} from 'node:fs';
import { promisify } from 'node:util';
import { readLong, writeLong } from './bytes.js';
import { at, checkRegular, type OpenFile } from './directory.js';
import { explained, isErrno, refusal } from './file-errors.js';
import type { Tree } from './file-tree.js';
import { closeFile } from './free-space.js';
import { NewFile } from './new-file.js';
import type { Place } from './resolve-beneath.js';

const changeMode = promisify(fchmod);
const truncate = promisify(ftruncate);

const defaultMode = 0o644;

/** We hold it in memory. */
const mostCopiedBytes = 64 * 1024 * 1024;

export interface Written {
  readonly path: string;
  /** Size of the file afterwards. */
  readonly sizeBytes: number;
  readonly created: boolean;
}

/** Writes a file whole. Readers see the old content or the new one, never a mixture. */
export function writeFile(tree: Tree, path: string, data: Uint8Array, mode?: number): Promise<Written> {
  return explained('write', path, () =>
    tree.inOrder(async () => {
      using place = resolveTarget(tree, path);
      const replaced = checkReplaceable(place);
      await using file = new NewFile(place.directory);
      file.write(data);
      await file.commit(place.name, { mode: mode ?? modeOf(replaced), replaced });
      return { path: place.path, sizeBytes: data.length, created: replaced === undefined };
    }),
  );
}

/** Replaces a file of any size, unless it is no longer as it was; tells whether it did. */
export function replaceUnchanged(
  tree: Tree,
  path: string,
  data: Uint8Array,
  expected: Stats,
): Promise<boolean> {
  return explained('write', path, async () => {
    using place = resolveTarget(tree, path);
    const replaced = checkReplaceable(place);
    if (replaced === undefined) return false;
    await using file = new NewFile(place.directory);
    await file.writeLong(data);
    return await tree.inOrder(async () => {
      if (!isSame(lstatSync(at(place.directory, place.name)), expected)) return false;
      await file.commit(place.name, { mode: modeOf(replaced), replaced });
      return true;
    });
  });
}

export function isSame(left: Stats, right: Stats): boolean {
  return (['dev', 'ino', 'size', 'mtimeMs', 'ctimeMs'] as const).every((key) => left[key] === right[key]);
}

/** Adds to the end of a file. */
export function appendFile(tree: Tree, path: string, data: Uint8Array, mode?: number): Promise<Written> {
  return explained('append to', path, () =>
    tree.inOrder(async () => {
      using place = resolveTarget(tree, path);
      const created = place.stats === undefined;
      const { fd } = created ? createForAppend(place) : openForAppend(place);
      try {
        const { nlink } = fstatSync(fd);
        if (nlink > 1) return await appendToCopy(place, data, mode);
        await writeEnd(fd, data);
        if (mode !== undefined) await changeMode(fd, mode);
        return { path: place.path, sizeBytes: fstatSync(fd).size, created };
      } finally {
        closeFile(fd);
      }
    }),
  );
}

/** Another name of the file may be outside the cell, so write to a new file that has only this name. */
async function appendToCopy(place: Place, data: Uint8Array, mode?: number): Promise<Written> {
  const { fd, stats } = place.directory.openFile(place.name, constants.O_RDONLY);
  try {
    if (stats.size > mostCopiedBytes) throw refusal('SHARED');
    await using file = new NewFile(place.directory);
    const old = await readLong(fd, stats.size, mostCopiedBytes);
    await file.writeLong(old);
    await file.writeLong(data);
    await file.commit(place.name, { mode: mode ?? modeOf(stats), replaced: stats });
    return { path: place.path, sizeBytes: old.length + data.length, created: false };
  } finally {
    closeFile(fd);
  }
}

/** Adds all of the data or, where the space does not suffice, nothing. */
async function writeEnd(fd: number, data: Uint8Array): Promise<void> {
  const { size } = fstatSync(fd);
  try {
    await writeLong(fd, data);
  } catch (error) {
    const grown = fstatSync(fd).size - size;
    // More bytes than we wrote come from others and stay.
    if (grown > 0 && grown < data.length) await truncate(fd, size);
    throw error;
  }
}

/** Finds where to write a file and makes parent directories. The caller disposes of the place. */
export function resolveTarget(tree: Tree, path: string): Place {
  if (path.endsWith('/')) throw refusal('EISDIR');
  return tree.resolve(path, { follow: true, create: true });
}

/** Returns the file that a new one would replace. Refuses anything that is not a file or that we may not write. */
export function checkReplaceable(place: Place): Stats | undefined {
  const { stats } = place;
  if (place.name === '.') throw refusal('EISDIR');
  if (stats === undefined) return undefined;
  checkRegular(stats);
  // A rename does not check whether we may write the old file, so check it here.
  if (process.getuid?.() !== 0) checkWritable(place);
  return stats;
}

/** The mode of a file that we write again. */
export function modeOf(replaced: Stats | undefined): number {
  return replaced === undefined ? defaultMode : replaced.mode & 0o777;
}

function checkWritable(place: Place): void {
  accessSync(at(place.directory, place.name), constants.W_OK);
}

function openForAppend(place: Place): OpenFile {
  return place.directory.openFile(place.name, constants.O_WRONLY | constants.O_APPEND);
}

function createForAppend(place: Place): { fd: number } {
  const flags =
    constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  try {
    const fd = openSync(at(place.directory, place.name), flags, defaultMode);
    return { fd };
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
    return openForAppend(place);
  }
}
