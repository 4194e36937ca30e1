/** A unified diff, in the form that Python's `difflib` writes. */

import type { Steps } from '../../../base/pace.js';
import { type ChangedLines, changedLines, comparedLines } from '../../../cell/executor/files/edit-diff.js';
import { lineCount, nextLine, stepLength } from '../../../cell/executor/files/text-steps.js';

export interface Hunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  /** Each with its sign, in pieces of many. */
  readonly lines: readonly string[];
}

/** Empty when nothing changed. `context`: unchanged lines around a change. */
export function* unifiedDiff(path: string, before: string, after: string, context = 0): Steps<string> {
  if (before === after) return '';
  const hunks = yield* hunksOf(before, after, context);
  const lines = hunks.flatMap((hunk) => [
    `@@ -${range(hunk.oldStart, hunk.oldLines)} +${range(hunk.newStart, hunk.newLines)} @@`,
    ...hunk.lines,
  ]);
  return [`--- ${path}`, `+++ ${path}`, ...lines].map((line) => line.trimEnd()).join('\n');
}

/** What differs, in one piece where there is too much to compare. */
export function* hunksOf(before: string, after: string, context: number): Steps<readonly Hunk[]> {
  // With one more line end, a text that ends with one has an empty last line, as it has for Python.
  const changed = yield* changedLines(`${before}\n`, `${after}\n`);
  const count = { old: yield* lineCount(changed.before), new: yield* lineCount(changed.after) };
  return comparedLines(changed, count.old + count.new, context) ?? [yield* oneHunk(changed, count)];
}

/** An empty range takes the number of the line before it. */
function range(start: number, length: number): string {
  if (length === 1) return `${start}`;
  return `${length === 0 ? start - 1 : start},${length}`;
}

/** One block for all lines that differ. */
function* oneHunk(
  { before, after, lead, passed }: ChangedLines,
  count: { readonly old: number; readonly new: number },
): Steps<Hunk> {
  const start = passed + (yield* lineCount(lead)) + 1;
  return {
    oldStart: start,
    oldLines: count.old,
    newStart: start,
    newLines: count.new,
    lines: [...(yield* signed(before, '-')), ...(yield* signed(after, '+'))],
  };
}

/** The lines with a sign in front, many in one piece. */
function* signed(text: string, sign: string): Steps<string[]> {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = nextLine(text, Math.min(start + stepLength, text.length));
    const lines = text.slice(start, text[end - 1] === '\n' ? end - 1 : end).split('\n');
    pieces.push(lines.map((line) => `${sign}${line}`.trimEnd()).join('\n'));
    start = end;
    yield;
  }
  return pieces;
}
