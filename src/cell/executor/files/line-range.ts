/** Picks a range of lines out of a file of any size and holds only that range in memory. */

import { Pace } from '../../../base/pace.js';
import { WorkcellError } from '../../../protocol/index.js';
import { quote } from './file-errors.js';

export interface LineRange {
  /** First line, counted from 1. */
  readonly start: number;
  /** Last line, included. */
  readonly end: number;
}

export interface PickedLines {
  /** The lines with their line ends. */
  readonly data: Buffer;
  /** Lines of the whole file; a last one without line end counts. */
  readonly totalLines: number;
}

const lineFeed = 0x0a;

export async function pickLines(
  pieces: AsyncIterable<Buffer> | Iterable<Buffer>,
  range: LineRange,
  limitBytes: number,
  signal?: AbortSignal,
): Promise<PickedLines> {
  const picked: Buffer[] = [];
  let pickedBytes = 0;
  let line = 1;
  let openLine = false;
  const pace = new Pace(signal);
  for await (const piece of pieces) {
    let from = line >= range.start && line <= range.end ? 0 : -1;
    let position = 0;
    while (position < piece.length) {
      const lineEnd = piece.indexOf(lineFeed, position);
      if (lineEnd === -1) {
        openLine = true;
        break;
      }
      openLine = false;
      line++;
      // A file can be nothing but line ends.
      if (line % 1024 === 0) await pace.step();
      position = lineEnd + 1;
      if (line === range.start) from = position;
      if (line === range.end + 1 && from !== -1) {
        keep(piece.subarray(from, position));
        from = -1;
      }
    }
    if (from !== -1) keep(piece.subarray(from));
  }
  return { data: Buffer.concat(picked), totalLines: openLine ? line : line - 1 };

  function keep(data: Buffer): void {
    pickedBytes += data.length;
    if (pickedBytes > limitBytes) throw tooLong(range, limitBytes);
    picked.push(data);
  }
}

/** Refuses a range that makes no sense for the file. The first line of an empty file is fine. */
export function checkRange(range: LineRange, totalLines: number, path: string): void {
  if (range.start <= Math.max(totalLines, 1)) return;
  throw new WorkcellError(
    'invalid-action',
    `Cannot read ${quote(path)} from line ${range.start}: it has ${totalLines} lines. Use a startLine up to that.`,
    { details: { path, startLine: range.start, totalLines } },
  );
}

function tooLong(range: LineRange, limitBytes: number): WorkcellError {
  return new WorkcellError(
    'file-too-large',
    `Lines ${range.start} to ${range.end} have more than ${limitBytes} bytes. Ask for fewer lines, a larger maxBytes, or download the file.`,
    { details: { limitBytes } },
  );
}
