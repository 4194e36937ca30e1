/** Reads and writes open files: short ones at once, long ones without holding up the rest of the program. */
import { read, readSync, write, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { checkCancelled } from '../../../base/pace.js';
import { WorkcellError } from '../../../protocol/index.js';

const readAsync = promisify(read);
const writeAsync = promisify(write);

/** Up to this size a direct system call is quicker than a round through the thread pool. */
const directBytes = 1024 * 1024;
const pieceBytes = 256 * 1024;
const leastBytes = 4096;

/** Reads from the beginning to the end, but at most `limit` bytes. `expected` is the size as far as known. */
export function readWhole(fd: number, expected: number, limit: number): Buffer {
  const first = Buffer.allocUnsafe(Math.min(expected, limit) + 1);
  const pieces: Buffer[] = [];
  let piece = first;
  let total = 0;
  for (;;) {
    const length = readSync(fd, piece, 0, piece.length, total);
    if (length === 0) break;
    pieces.push(piece.subarray(0, length));
    total += length;
    if (total >= limit) break;
    piece =
      length < piece.length
        ? piece.subarray(length)
        : Buffer.allocUnsafe(Math.min(pieceBytes, limit - total) || 1);
  }
  if (pieces.length === 1 && pieces[0] !== undefined) return pieces[0].subarray(0, limit);
  return Buffer.concat(pieces).subarray(0, limit);
}

/** Like `readWhole`, for files of any size. */
export async function readLong(
  fd: number,
  expected: number,
  limit: number,
  signal?: AbortSignal,
): Promise<Buffer> {
  if (expected <= directBytes) return readWhole(fd, expected, limit);
  const pieces: Buffer[] = [];
  for await (const piece of readPieces(fd, { end: limit, signal })) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Like `readLong`, into separate memory that another thread can take. */
export async function readOwned(
  fd: number,
  expected: number,
  limit: number,
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  if (expected <= directBytes) return new Uint8Array(readWhole(fd, expected, limit));
  // Ignores what the file gains meanwhile.
  const whole = new Uint8Array(Math.min(expected, limit));
  let length = 0;
  while (length < whole.length) {
    checkCancelled(signal);
    const { bytesRead } = await readAsync(
      fd,
      whole,
      length,
      Math.min(pieceBytes, whole.length - length),
      length,
    );
    if (bytesRead === 0) return whole.slice(0, length);
    length += bytesRead;
  }
  return whole;
}

/** The bytes from `start` up to, not including, `end` or the end of the file. */
export async function* readPieces(
  fd: number,
  options: { start?: number; end?: number; signal?: AbortSignal | undefined } = {},
): AsyncGenerator<Buffer> {
  const { start = 0, end = Number.POSITIVE_INFINITY, signal } = options;
  for (let position = start; position < end; ) {
    checkCancelled(signal);
    const piece = Buffer.allocUnsafe(Math.min(pieceBytes, end - position));
    const { bytesRead } = await readAsync(fd, piece, 0, piece.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield piece.subarray(0, bytesRead);
  }
}

/** From one descriptor to the other. One piece of memory carries all of it, so that there is nothing to collect. */
export async function copyBytes(
  from: number,
  to: number,
  { expected, signal }: { expected: number; signal: AbortSignal | undefined },
): Promise<void> {
  const piece = Buffer.allocUnsafe(Math.min(Math.max(expected + 1, leastBytes), pieceBytes));
  for (let position = 0; ; ) {
    checkCancelled(signal);
    const { bytesRead } = await readAsync(from, piece, 0, piece.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    await writeLong(to, piece.subarray(0, bytesRead));
  }
}

export function writeWhole(fd: number, data: Uint8Array): void {
  for (let offset = 0; offset < data.length; ) offset += writeSync(fd, data, offset);
}

/** Like `writeWhole`, for data of any size. */
export async function writeLong(fd: number, data: Uint8Array): Promise<void> {
  for (let offset = 0; offset < data.length; ) {
    const { bytesWritten } = await writeAsync(fd, data, offset, data.length - offset, null);
    offset += bytesWritten;
  }
}

/** Node skips characters that are not base64; tell the caller about the mistake instead. */
export function decodeBase64(content: string): Buffer {
  if (/^[A-Za-z0-9+/\-_\s]*={0,2}\s*$/.test(content)) return Buffer.from(content, 'base64');
  throw new WorkcellError(
    'invalid-action',
    'The content is not base64. Encode it, or set encoding to "utf8" for text.',
  );
}
