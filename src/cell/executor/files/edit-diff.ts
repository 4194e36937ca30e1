/** Shows a change: as a unified diff, and as the changed lines with their numbers. */
import { type StructuredPatchHunk, structuredPatch } from 'diff';
import { atOnce, type Steps } from '../../../base/pace.js';
import { commonHead, commonTail, lineCount, lineEnds, lineStart, nextLine } from './text-steps.js';

const contextLines = 4;
/** Beyond this the diff shows one block for all lines that differ. The library cannot stop within a step of its own. */
const mostCompared = { lines: 10_000, characters: 512 * 1024 };
const comparison = { maxEditLength: 2_000, timeoutMs: 40 };
const mostInDiff = { lines: 10_000, characters: 1024 * 1024 };
const mostInSnippet = { lines: 400, characters: 256 * 1024 };
const longestLine = 10_000;

export interface ShownChange {
  readonly diff: string;
  readonly snippet: string;
}

/** For texts that are known to be short; `timeoutMs` is how long to look for small differences. */
export function showChange(name: string, before: string, after: string, timeoutMs?: number): ShownChange {
  return atOnce(changeShown(name, before, after, timeoutMs));
}

/** `name` is the path in the header of the diff. */
export function* changeShown(
  name: string,
  before: string,
  after: string,
  timeoutMs?: number,
): Steps<ShownChange> {
  const hunks = yield* hunksOf(yield* changedLines(before, after), timeoutMs);
  return { diff: unified(name, hunks), snippet: numbered(hunks) };
}

/** What differs as whole lines, and the lines around it, which are the same. */
export interface ChangedLines {
  readonly before: string;
  readonly after: string;
  readonly lead: string;
  readonly trail: string;
  /** How many lines are in front of `lead`. */
  readonly passed: number;
}

export function* changedLines(before: string, after: string): Steps<ChangedLines> {
  const head = yield* commonHead(before, after);
  const tail = yield* commonTail(before, after, Math.min(before.length, after.length) - head);
  const first = lineStart(before, head);
  let start = first;
  for (let line = 0; line < contextLines && start > 0; line++) start = lineStart(before, start - 1);
  const isWhole = startsLine(before, before.length - tail) && startsLine(after, after.length - tail);
  const end = isWhole ? before.length - tail : nextLine(before, before.length - tail);
  let behind = end;
  for (let line = 0; line < contextLines; line++) behind = nextLine(before, behind);
  return {
    before: before.slice(first, end),
    after: after.slice(first, after.length - (before.length - end)),
    lead: before.slice(start, first),
    trail: before.slice(end, behind),
    passed: yield* lineEnds(before, 0, start),
  };
}

function startsLine(text: string, position: number): boolean {
  return lineStart(text, position) === position;
}

interface Hunk extends Omit<StructuredPatchHunk, 'lines'> {
  readonly lines: readonly string[];
  /** Lines that it leaves out. */
  readonly omitted: { readonly old: number; readonly new: number };
}

function* hunksOf(changed: ChangedLines, timeoutMs: number | undefined): Steps<Hunk[]> {
  const count = { old: yield* lineCount(changed.before), new: yield* lineCount(changed.after) };
  const hunks = comparedLines(changed, count.old + count.new, contextLines, timeoutMs);
  return hunks?.map((hunk) => ({ ...hunk, omitted: { old: 0, new: 0 } })) ?? [oneHunk(changed, count)];
}

/** Undefined when there is too much to compare. `lines`: how many differ. */
export function comparedLines(
  { before, after, lead, trail, passed }: ChangedLines,
  lines: number,
  context: number,
  timeoutMs = comparison.timeoutMs,
): StructuredPatchHunk[] | undefined {
  if (lines > mostCompared.lines || before.length + after.length > mostCompared.characters) return undefined;
  const [old, fresh] = [lead + before + trail, lead + after + trail];
  const patch = structuredPatch('', '', old, fresh, '', '', {
    context,
    maxEditLength: comparison.maxEditLength,
    timeout: timeoutMs,
  });
  return patch?.hunks.map((hunk) => ({
    ...hunk,
    oldStart: hunk.oldStart + passed,
    newStart: hunk.newStart + passed,
  }));
}

/** One block for all lines that differ. */
function oneHunk(
  { before, after, lead, trail, passed }: ChangedLines,
  count: { readonly old: number; readonly new: number },
): Hunk {
  const [above, below] = [firstLines(lead), firstLines(trail)];
  const [old, fresh] = [firstLines(before), firstLines(after)];
  const around = above.length + below.length;
  return {
    oldStart: passed + 1,
    newStart: passed + 1,
    oldLines: around + count.old,
    newLines: around + count.new,
    lines: [
      ...above.map((line) => ` ${line}`),
      ...old.map((line) => `-${line}`),
      ...fresh.map((line) => `+${line}`),
      ...below.map((line) => ` ${line}`),
    ],
    omitted: { old: count.old - old.length, new: count.new - fresh.length },
  };
}

/** As many as a diff shows. */
function firstLines(text: string): string[] {
  const lines: string[] = [];
  for (let start = 0; start < text.length && lines.length < mostInDiff.lines; ) {
    const next = nextLine(text, start);
    lines.push(text.slice(start, text[next - 1] === '\n' ? next - 1 : next));
    start = next;
  }
  return lines;
}

function unified(name: string, hunks: readonly Hunk[]): string {
  const relative = name.replace(/^\//, '');
  const lines = [`--- a/${relative}`, `+++ b/${relative}`];
  for (const hunk of hunks) {
    lines.push(`@@ -${range(hunk.oldStart, hunk.oldLines)} +${range(hunk.newStart, hunk.newLines)} @@`);
    for (const line of hunk.lines) lines.push(line);
  }
  const omitted = hunks.reduce((sum, hunk) => sum + hunk.omitted.old + hunk.omitted.new, 0);
  return `${capped(lines, mostInDiff, omitted).join('\n')}\n`;
}

/** An empty range takes the number of the line before it. */
function range(start: number, length: number): string {
  if (length === 1) return `${start}`;
  return `${length === 0 ? Math.max(start - 1, 0) : start},${length}`;
}

function numbered(hunks: readonly Hunk[]): string {
  const width = String(Math.max(...hunks.map((hunk) => hunk.newStart + hunk.newLines), 0)).length;
  const blocks = hunks.map((hunk) => {
    const shown = hunk.lines.filter((line) => line.startsWith(' ') || line.startsWith('+'));
    return shown.map(
      (line, index) =>
        `${String(hunk.newStart + index).padStart(width)}\t${line.slice(1).replace(/\r$/, '')}`,
    );
  });
  const lines = blocks.flatMap((block, index) => (index === 0 ? block : ['…', ...block]));
  const omitted = hunks.reduce((sum, hunk) => sum + hunk.omitted.new, 0);
  return capped(lines, mostInSnippet, omitted).join('\n');
}

/** The first lines within the limits, each cut to a length, and how many more there are. */
function capped(
  lines: readonly string[],
  limit: { readonly lines: number; readonly characters: number },
  omitted: number,
): string[] {
  const shown: string[] = [];
  let characters = 0;
  for (const line of lines.slice(0, limit.lines)) {
    const cut = line.length > longestLine ? `${line.slice(0, longestLine)}…` : line;
    characters += cut.length + 1;
    if (characters > limit.characters) break;
    shown.push(cut);
  }
  const more = lines.length - shown.length + omitted;
  return more > 0 ? [...shown, `… ${more} more lines`] : shown;
}
