import { constants } from 'node:fs';
import { inTurns, Pace, type Steps } from '../../../base/pace.js';
import { type Action, type Observation, WorkcellError } from '../../../protocol/index.js';
import { readLong, readPieces } from './bytes.js';
import type { OpenFile } from './directory.js';
import { explained, problem, quote } from './file-errors.js';
import type { Tree } from './file-tree.js';
import { closeFile } from './free-space.js';
import { checkRange, type LineRange, pickLines } from './line-range.js';
import { mediaTypeOf } from './media-type.js';
import { detectEncoding, type TextEncoding, textDecoded } from './text-encoding.js';
import { lineCount } from './text-steps.js';

type Opened = OpenFile & { readonly path: string };

/** Reads a file, or a range of its lines, into an observation. */
export function readFile(
  tree: Tree,
  action: Action<'read'>,
  signal?: AbortSignal,
): Promise<Observation<'read'>> {
  return explained('read', action.path, async () => {
    const range = rangeOf(action);
    const opened = tree.openFile(action.path, constants.O_RDONLY);
    try {
      const isLong = opened.stats.size > action.maxBytes;
      if (isLong && range === undefined) throw tooLarge(opened, action.maxBytes);
      if (isLong && range !== undefined) return await readLinesOfLong(opened, action, range, signal);
      const data = await readLong(opened.fd, opened.stats.size, action.maxBytes + 1, signal);
      if (data.length > action.maxBytes) throw tooLarge(opened, action.maxBytes);
      const pace = new Pace(signal);
      return range === undefined
        ? await inTurns(whole(opened, action, data), pace)
        : await readLines(opened, action, data, range, pace);
    } finally {
      closeFile(opened.fd);
    }
  });
}

function rangeOf({ path, startLine, endLine }: Action<'read'>): LineRange | undefined {
  if (startLine === undefined && endLine === undefined) return undefined;
  const range = { start: startLine ?? 1, end: endLine ?? Number.MAX_SAFE_INTEGER };
  if (range.end >= range.start) return range;
  throw problem(
    'invalid-action',
    `Cannot read ${quote(path)}: endLine ${range.end} is before startLine ${range.start}.`,
    path,
  );
}

function* whole(opened: Opened, action: Action<'read'>, data: Buffer): Steps<Observation<'read'>> {
  const detected = readableEncoding(data);
  const base = { observation: 'read', path: opened.path, sizeBytes: data.length } as const;
  const mediaType = mediaTypeOf(opened.path, data, detected !== undefined);
  if (action.encoding === 'base64' || (action.encoding === undefined && detected === undefined)) {
    return { ...base, content: data.toString('base64'), encoding: 'base64', mediaType };
  }
  // Keeps the byte order mark of UTF-8, so that writing the text back gives the same file.
  const content = yield* textDecoded(
    data,
    detected === undefined || detected === 'utf8-bom' ? 'utf8' : detected,
  );
  return { ...base, content, encoding: 'utf8', mediaType, totalLines: yield* lineCount(content) };
}

async function readLines(
  opened: Opened,
  action: Action<'read'>,
  data: Buffer,
  range: LineRange,
  pace: Pace,
): Promise<Observation<'read'>> {
  const detected = readableEncoding(data);
  if (detected === undefined && action.encoding !== 'utf8') throw notText(opened.path);
  // Only UTF-16 has line feeds of more than one byte; in UTF-8 lines separate like in all others.
  const isWide = detected === 'utf16le' || detected === 'utf16be';
  const bytes = isWide ? Buffer.from(await inTurns(textDecoded(data, detected), pace)) : data;
  const { data: picked, totalLines } = await pickLines([bytes], range, action.maxBytes);
  return lines(opened, action, { picked, totalLines, sizeBytes: data.length }, range);
}

async function readLinesOfLong(
  opened: Opened,
  action: Action<'read'>,
  range: LineRange,
  signal: AbortSignal | undefined,
): Promise<Observation<'read'>> {
  const pieces = readPieces(opened.fd, { signal });
  const { data: picked, totalLines } = await pickLines(pieces, range, action.maxBytes);
  if (action.encoding !== 'utf8' && readableEncoding(picked) === undefined) throw notText(opened.path);
  return lines(opened, action, { picked, totalLines, sizeBytes: opened.stats.size }, range);
}

function lines(
  opened: Opened,
  action: Action<'read'>,
  found: { picked: Buffer; totalLines: number; sizeBytes: number },
  range: LineRange,
): Observation<'read'> {
  checkRange(range, found.totalLines, opened.path);
  const encoding = action.encoding ?? 'utf8';
  return {
    observation: 'read',
    path: opened.path,
    content: found.picked.toString(encoding),
    encoding,
    mediaType: mediaTypeOf(opened.path, found.picked, true),
    sizeBytes: found.sizeBytes,
    totalLines: found.totalLines,
    startLine: range.start,
    endLine: Math.min(range.end, found.totalLines),
  };
}

/** Latin-1 would make text of any bytes, so for reading it does not count as text. */
function readableEncoding(data: Buffer): TextEncoding | undefined {
  const detected = detectEncoding(data);
  return detected === 'latin1' ? undefined : detected;
}

function notText(path: string): WorkcellError {
  return problem(
    'invalid-action',
    `${quote(path)} is not UTF-8 text, so it has no lines to choose. Read it without startLine and endLine, or with encoding "utf8" to see what can be shown.`,
    path,
  );
}

function tooLarge({ path, stats }: Opened, limitBytes: number): WorkcellError {
  return new WorkcellError(
    'file-too-large',
    `${quote(path)} has ${stats.size} bytes and the limit is ${limitBytes}. Read a range with startLine and endLine, raise maxBytes, or download the file.`,
    { details: { path, sizeBytes: stats.size, limitBytes } },
  );
}
