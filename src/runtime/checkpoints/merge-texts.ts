/** Merges two changes of one text line by line. It takes no longer for texts that a cell made to be hard to compare. */
import { diffArrays } from 'diff';

const mostLines = 50_000;
const mostEdits = 2000;
/** For each of two comparisons. */
const timeoutMs = 20;

/** Lines of the old text, from `start` up to `end`, and what stands in their place. */
interface Hunk {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/** Undefined where both changed the same lines, or lines next to each other, or where the texts differ in too much. */
export function mergeTexts(base: string, mine: string, theirs: string): string | undefined {
  const old = linesOf(base);
  const [own, other] = [hunksOf(old, linesOf(mine)), hunksOf(old, linesOf(theirs))];
  if (old === undefined || own === undefined || other === undefined) return undefined;
  const hunks = inOrder(own, other);
  if (hunks === undefined) return undefined;
  const merged: string[] = [];
  let at = 0;
  for (const { start, end, lines } of hunks) {
    merged.push(old.slice(at, start).join(''), lines.join(''));
    at = end;
  }
  return `${merged.join('')}${old.slice(at).join('')}`;
}

function inOrder(own: readonly Hunk[], other: readonly Hunk[]): Hunk[] | undefined {
  const hunks: Hunk[] = [];
  let [first, second] = [0, 0];
  for (;;) {
    const [one, two] = [own[first], other[second]];
    if (one === undefined || two === undefined)
      return [...hunks, ...own.slice(first), ...other.slice(second)];
    if (one.end < two.start) hunks.push(own[first++] as Hunk);
    else if (two.end < one.start) hunks.push(other[second++] as Hunk);
    else if (isSame(one, two)) {
      hunks.push(one);
      first++;
      second++;
    } else return undefined;
  }
}

function isSame(one: Hunk, two: Hunk): boolean {
  const isThere = one.start === two.start && one.end === two.end;
  return isThere && one.lines.join('') === two.lines.join('');
}

/** Each with the break at its end. Undefined for too many. */
function linesOf(text: string): string[] | undefined {
  const lines: string[] = [];
  for (let at = 0; at < text.length; ) {
    if (lines.length >= mostLines) return undefined;
    const end = text.indexOf('\n', at);
    const next = end === -1 ? text.length : end + 1;
    lines.push(text.slice(at, next));
    at = next;
  }
  return lines;
}

function hunksOf(old: string[] | undefined, fresh: string[] | undefined): Hunk[] | undefined {
  if (old === undefined || fresh === undefined) return undefined;
  const parts = diffArrays(old, fresh, { maxEditLength: mostEdits, timeout: timeoutMs });
  if (parts === undefined) return undefined;
  const hunks: { start: number; end: number; lines: string[] }[] = [];
  let at = 0;
  for (const { added, removed, value } of parts) {
    if (!added && !removed) {
      at += value.length;
      continue;
    }
    let hunk = hunks.at(-1);
    if (hunk?.end !== at) {
      hunk = { start: at, end: at, lines: [] };
      hunks.push(hunk);
    }
    if (added) hunk.lines = hunk.lines.concat(value);
    else hunk.end = at += value.length;
  }
  return hunks;
}
