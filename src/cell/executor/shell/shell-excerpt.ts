/** The part of an output that an observation carries: all of it, or its head and its tail within a budget. */
import type { Spool } from '../output/spool.js';
import { partialStart, wholeCharacters } from '../output/utf8.js';
import { alternateScreenStart, render, type ScreenSize } from './render.js';

/** Render raw output up to this size whole before cutting it, so that folded progress bars count for little. */
const renderedWholeBytes = 1024 * 1024;

export interface Excerpt {
  readonly text: string;
  readonly truncated: boolean;
}

/** The output from position `from` on, as a person would see it, in at most about `budget` bytes. */
export async function excerpt(
  spool: Spool,
  from: number,
  budget: number,
  size: ScreenSize,
  handle: string,
): Promise<Excerpt> {
  const length = spool.totalBytes - from;
  if (length === 0) return { text: '', truncated: false };
  if (length <= Math.max(renderedWholeBytes, budget)) {
    const raw = readAll(spool, from, length);
    return cut(await render(raw, size), budget, length, handle);
  }
  const share = Math.max(budget, 65_536);
  const head = await render(spool.read(from, share).data, size);
  const tail = await render(spool.read(spool.totalBytes - share, share).data, size);
  return { text: join(head, tail, budget, length, handle), truncated: true };
}

/** The screen as it is, when a full-screen program has it; undefined otherwise. */
export async function currentScreen(spool: Spool, size: ScreenSize): Promise<string | undefined> {
  const from = Math.max(0, spool.totalBytes - renderedWholeBytes);
  const raw = readAll(spool, from, renderedWholeBytes);
  const start = alternateScreenStart(raw);
  return start === undefined ? undefined : render(raw.subarray(start), size);
}

function readAll(spool: Spool, from: number, length: number): Buffer {
  const first = spool.read(from, length);
  const rest =
    first.from + first.data.length < spool.totalBytes
      ? spool.read(first.from + first.data.length, length)
      : undefined;
  return rest === undefined || rest.data.length === 0 ? first.data : Buffer.concat([first.data, rest.data]);
}

function cut(text: string, budget: number, length: number, handle: string): Excerpt {
  // A character has at most three bytes for each of its UTF-16 units, so most outputs need no counting.
  if (text.length * 3 <= budget || Buffer.byteLength(text) <= budget) return { text, truncated: false };
  return { text: join(text, text, budget, length, handle), truncated: true };
}

function join(head: string, tail: string, budget: number, length: number, handle: string): string {
  const half = Math.floor(budget / 2);
  return [
    wholeLines(firstBytes(head, half), 'end'),
    `[… ${length} bytes in all; the middle is left out here and kept under output id ${handle} …]`,
    wholeLines(lastBytes(tail, half), 'start'),
  ].join('\n');
}

function firstBytes(text: string, bytes: number): string {
  const data = Buffer.from(text.slice(0, bytes)).subarray(0, bytes);
  return data.toString('utf8', 0, wholeCharacters(data));
}

function lastBytes(text: string, bytes: number): string {
  const data = Buffer.from(text.slice(-bytes));
  const end = data.subarray(Math.max(0, data.length - bytes));
  return end.toString('utf8', partialStart(end));
}

/** Drops a partial line at the cut, unless that would drop most of the text. */
function wholeLines(text: string, cutAt: 'start' | 'end'): string {
  const index = cutAt === 'end' ? text.lastIndexOf('\n') : text.indexOf('\n');
  const rest = cutAt === 'end' ? text.slice(0, Math.max(0, index)) : text.slice(index + 1);
  return index === -1 || rest.length < text.length / 2 ? text : rest;
}
