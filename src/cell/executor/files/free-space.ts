/**
 * Calls that last as long as others decide, made by a thread of the pool. Taking a name away waits for a program that
 * writes to the file; taking a directory away waits until the system has freed what was removed from it; and whoever has
 * the last name or descriptor frees the space, which takes a second for gigabytes.
 *
 * Taking a name away locks its directory while it waits for the writer, so a lookup or a new file there from the event loop
 * still waits as long.
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
  return limited(() => unlink(path));
}

export function removeDirectory(path: Path): Promise<void> {
  return limited(() => rmdir(path));
}

/** Replaces what has the new name, but for a directory with entries. */
export function renameFile(from: Path, to: Path): Promise<void> {
  return limited(() => rename(from, to));
}

/** All cells and everything else share the pool, so a thread of it stays free, whatever the others wait for. */
const most = Math.max(1, Number(process.env.UV_THREADPOOL_SIZE ?? 4) - 1) || 1;
const waiting: (() => void)[] = [];
let running = 0;

async function limited(call: () => Promise<void>): Promise<void> {
  if (running < most) running++;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    await call();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }
}
