/** Shows a change: as a unified diff, and as the changed lines with their numbers. */
import { type StructuredPatchHunk, structuredPatch } from 'diff';

const contextLines = 4;
/** Beyond this many differing lines, or this time, the diff shows one block for all of them. */
const maxEditLength = 2_000;
const timeoutMs = 250;
const maxDiffLines = 10_000;
const maxSnippetLines = 400;
const maxLineLength = 10_000;

export interface ShownChange {
  readonly diff: string;
  readonly snippet: string;
}

/** `name` is the path in the header of the diff. */
export function showChange(name: string, before: string, after: string): ShownChange {
  const options = { context: contextLines, maxEditLength, timeout: timeoutMs };
  const hunks = structuredPatch(name, name, before, after, '', '', options)?.hunks ?? [
    oneHunk(before, after),
  ];
  return { diff: unified(name, hunks), snippet: numbered(hunks) };
}

function unified(name: string, hunks: readonly StructuredPatchHunk[]): string {
  const relative = name.replace(/^\//, '');
  const lines = [`--- a/${relative}`, `+++ b/${relative}`];
  for (const hunk of hunks) {
    lines.push(`@@ -${range(hunk.oldStart, hunk.oldLines)} +${range(hunk.newStart, hunk.newLines)} @@`);
    for (const line of hunk.lines) lines.push(line);
  }
  return `${capped(lines, maxDiffLines).join('\n')}\n`;
}

/** An empty range takes the number of the line before it. */
function range(start: number, length: number): string {
  if (length === 1) return `${start}`;
  return `${length === 0 ? Math.max(start - 1, 0) : start},${length}`;
}

function numbered(hunks: readonly StructuredPatchHunk[]): string {
  const width = String(Math.max(...hunks.map((hunk) => hunk.newStart + hunk.newLines), 0)).length;
  const blocks = hunks.map((hunk) => {
    const shown = hunk.lines.filter((line) => line.startsWith(' ') || line.startsWith('+'));
    return shown.map(
      (line, index) =>
        `${String(hunk.newStart + index).padStart(width)}\t${line.slice(1).replace(/\r$/, '')}`,
    );
  });
  const lines = blocks.flatMap((block, index) => (index === 0 ? block : ['…', ...block]));
  return capped(lines, maxSnippetLines).join('\n');
}

/** Limits the diff to this many lines, each this long. */
function capped(lines: readonly string[], limit: number): string[] {
  const shown = lines
    .slice(0, limit)
    .map((line) => (line.length > maxLineLength ? `${line.slice(0, maxLineLength)}…` : line));
  return lines.length > limit ? [...shown, `… ${lines.length - limit} more lines`] : shown;
}

/** One block from the first line that differs to the last. */
function oneHunk(before: string, after: string): StructuredPatchHunk {
  const old = before.split('\n');
  const fresh = after.split('\n');
  const shortest = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < shortest && old[head] === fresh[head]) head++;
  let tail = 0;
  while (tail < shortest - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++;
  const start = Math.max(head - contextLines, 0);
  const trailing = Math.min(tail, contextLines);
  const oldEnd = old.length - tail;
  const newEnd = fresh.length - tail;
  return {
    oldStart: start + 1,
    newStart: start + 1,
    oldLines: oldEnd + trailing - start,
    newLines: newEnd + trailing - start,
    lines: [
      ...old.slice(start, head).map((line) => ` ${line}`),
      ...old.slice(head, oldEnd).map((line) => `-${line}`),
      ...fresh.slice(head, newEnd).map((line) => `+${line}`),
      ...old.slice(oldEnd, oldEnd + trailing).map((line) => ` ${line}`),
    ],
  };
}
