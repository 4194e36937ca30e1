/**
 * Takes names and descriptors away without holding up the rest of the program. The system frees the space of a file with
 * the last of them, and for gigabytes that takes a second. A thread of the pool closes the last descriptor of a long file.
 */
import { close, closeSync, constants, fstatSync, lstatSync, openSync, renameSync, unlinkSync } from 'node:fs';
import { pathOnly } from './directory.js';

type Path = string | Buffer;

const blockBytes = 512;
const longBlocks = (8 * 1024 * 1024) / blockBytes;

export function closeFile(fd: number): void {
  if (fstatSync(fd).blocks < longBlocks) closeSync(fd);
  else closeLater(fd);
}

export function unlinkFile(path: Path): void {
  using _held = holdLong(path);
  unlinkSync(path);
}

/** Replaces what has the new name, as `renameSync` does. */
export function renameFile(from: Path, to: Path): void {
  using _held = holdLong(to);
  renameSync(from, to);
}

/** Keeps the space of a long file until the caller has taken its name away. */
function holdLong(path: Path): Disposable | undefined {
  if (process.platform !== 'linux') return undefined;
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats?.isFile() || stats.blocks < longBlocks) return undefined;
  try {
    const fd = openSync(path, pathOnly | constants.O_NOFOLLOW);
    return { [Symbol.dispose]: () => closeLater(fd) };
  } catch {
    // Another process was faster; the caller's own call tells.
    return undefined;
  }
}

function closeLater(fd: number): void {
  close(fd, () => {});
}
