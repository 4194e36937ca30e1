import type { Encoding } from '../../../protocol/index.js';
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
export function excerpt(spool: Spool, limitBytes: number, encoding: Encoding = 'utf8'): Excerpt {
  const total = spool.totalBytes;
  const whole = total <= limitBytes ? readRange(spool, 0, total) : undefined;
  if (whole?.length === total) return { data: whole.toString(encoding), truncated: false };
  if (encoding === 'base64')
    return { data: readRange(spool, 0, limitBytes).toString('base64'), truncated: true };
  const half = Math.floor(Math.min(limitBytes, total) / 2);
  const head = readRange(spool, 0, half);
  const tail = readRange(spool, Math.max(head.length, total - half), half);
  const headText = head.toString('utf8', 0, wholeCharacters(head));
  const tailText = tail.toString('utf8', partialStart(tail));
  const missing = total - head.length - tail.length;
  return { data: `${headText}\n[... ${missing} bytes left out ...]\n${tailText}`, truncated: true };
}

/** Kept bytes from a position up to a length, or up to a gap. */
function readRange(spool: Spool, from: number, length: number): Buffer {
  const pieces: Buffer[] = [];
  let position = from;
  while (position < from + length) {
    const piece = spool.read(position, from + length - position);
    if (piece.data.length === 0) break;
    // A range that begins in the dropped part starts later; one that reaches it ends there.
    if (piece.from !== position && pieces.length > 0) break;
    pieces.push(piece.data);
    position = piece.from + piece.data.length;
  }
  return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
}
