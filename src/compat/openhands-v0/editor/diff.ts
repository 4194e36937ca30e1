/** A unified diff without context, in the form that Python's `difflib` writes. */
import { structuredPatch } from 'diff';

/** Beyond this many differing lines, or this time, the diff shows one block for all of them. */
const limits = { maxEditLength: 2000, timeout: 250 };

interface Hunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly string[];
}

/** Empty when nothing changed. */
export function zeroContextDiff(path: string, before: string, after: string): string {
  if (before === after) return '';
  // With one more line end, a text that ends with one has an empty last line, as it has for Python.
  const patch = structuredPatch(path, path, `${before}\n`, `${after}\n`, '', '', { context: 0, ...limits });
  const hunks: readonly Hunk[] = patch?.hunks ?? [oneHunk(before.split('\n'), after.split('\n'))];
  const lines = hunks.flatMap((hunk) => [
    `@@ -${range(hunk.oldStart, hunk.oldLines)} +${range(hunk.newStart, hunk.newLines)} @@`,
    ...hunk.lines,
  ]);
  return [`--- ${path}`, `+++ ${path}`, ...lines].map((line) => line.trimEnd()).join('\n');
}

/** An empty range takes the number of the line before it. */
function range(start: number, length: number): string {
  if (length === 1) return `${start}`;
  return `${length === 0 ? start - 1 : start},${length}`;
}

function oneHunk(old: readonly string[], fresh: readonly string[]): Hunk {
  const shortest = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < shortest && old[head] === fresh[head]) head++;
  let tail = 0;
  while (tail < shortest - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++;
  const removed = old.slice(head, old.length - tail);
  const added = fresh.slice(head, fresh.length - tail);
  return {
    oldStart: head + 1,
    oldLines: removed.length,
    newStart: head + 1,
    newLines: added.length,
    lines: [...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)],
  };
}
