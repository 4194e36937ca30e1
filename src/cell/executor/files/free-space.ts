/**
 * Calls that last as long as others decide, made by a thread of the pool. Taking a name away waits for a program that
 * writes to the file; taking a directory away waits until the system has freed what was removed from it; and whoever has
 * the last name or descriptor frees the space, which takes a second for gigabytes.
 */
import { close, closeSync, fstatSync } from 'node:fs';
import { rename, rmdir, unlink } from 'node:fs/promises';

/** Most paths here lead through an open directory. Keep it open until the call has ended, also when it fails. */
type Path = string | Buffer;

const blockBytes = 512;
const longBlocks = (8 * 1024 * 1024) / blockBytes;

export function closeFile(fd: number): void {
  if (fstatSync(fd).blocks < longBlocks) closeSync(fd);
  else close(fd, () => {});
}

export function unlinkFile(path: Path): Promise<void> {
  return unlink(path);
}

export function removeDirectory(path: Path): Promise<void> {
  return rmdir(path);
}

/** Replaces what has the new name, but for a directory with entries. */
export function renameFile(from: Path, to: Path): Promise<void> {
  return rename(from, to);
}
