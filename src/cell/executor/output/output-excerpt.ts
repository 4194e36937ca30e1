import type { Steps } from '../../../base/pace.js';
import type { Encoding } from '../../../protocol/index.js';
import { textDecoded } from '../files/text-encoding.js';
import type { Spool } from './spool.js';
import { partialStart, wholeCharacters } from './utf8.js';

export interface Excerpt {
  readonly data: string;
  /** True when `data` is only a part of the output. */
  readonly truncated: boolean;
}

/**
 * The output within a budget. As text: all of it, or its head and its tail with a line between them that tells how
 * much is missing. As base64, which has no room for such a line: all of it, or its beginning.
 */
export function* excerpt(spool: Spool, limitBytes: number, encoding: Encoding = 'utf8'): Steps<Excerpt> {
  const total = spool.totalBytes;
  const whole = total <= limitBytes ? yield* readRange(spool, 0, total) : undefined;
  if (whole?.length === total) {
    const data = encoding === 'base64' ? whole.toString('base64') : yield* textDecoded(whole, 'utf8');
    return { data, truncated: false };
  }
  if (encoding === 'base64')
    return { data: (yield* readRange(spool, 0, limitBytes)).toString('base64'), truncated: true };
  const half = Math.floor(Math.min(limitBytes, total) / 2);
  const head = yield* readRange(spool, 0, half);
  const tail = yield* readRange(spool, Math.max(head.length, total - half), half);
  const headText = yield* textDecoded(head.subarray(0, wholeCharacters(head)), 'utf8');
  const tailText = yield* textDecoded(tail.subarray(partialStart(tail)), 'utf8');
  const missing = total - head.length - tail.length;
  return { data: `${headText}\n[... ${missing} bytes left out ...]\n${tailText}`, truncated: true };
}

/** Bytes of one step. */
const stepLength = 1024 * 1024;

/** Kept bytes from a position up to a length, or up to a gap. */
function* readRange(spool: Spool, from: number, length: number): Steps<Buffer> {
  const whole = Buffer.allocUnsafe(Math.max(Math.min(length, spool.totalBytes - from), 0));
  let filled = 0;
  let position = from;
  while (filled < whole.length) {
    const into = whole.subarray(filled, filled + stepLength);
    const piece = spool.read(position, Math.min(into.length, from + length - position), into);
    if (piece.data.length === 0) break;
    // A range that begins in the dropped part starts later; one that reaches it ends there.
    if (piece.from !== position && filled > 0) break;
    filled += piece.data.length;
    position = piece.from + piece.data.length;
    yield;
  }
  return whole.subarray(0, filled);
}
