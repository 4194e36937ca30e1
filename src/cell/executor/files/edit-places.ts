/** Finds where a text that an edit names is. */
import type { Steps } from '../../../base/pace.js';
import { stepLength } from './text-steps.js';

/** Takes a place; returns false when it needs no more. */
export type Visit = (start: number, end: number) => boolean;

/** Visits the places of the exact text, which do not overlap, or else of the same lines with other line ends. */
export function* visitPlaces(text: string, wanted: string, visit: Visit): Steps<void> {
  const found = yield* visitText(text, wanted, visit);
  if (found || !wanted.includes('\n')) return;
  const { plain, pieces } = yield* withoutReturns(text);
  const originalOf = originals(text, pieces);
  yield* visitText(plain, wanted.replaceAll('\r\n', '\n'), (start, end) =>
    visit(originalOf(start), originalOf(end)),
  );
}

/** Visits the places of exactly this text, which do not overlap; returns whether there was one. */
export function* visitText(text: string, wanted: string, visit: Visit): Steps<boolean> {
  let found = false;
  for (let from = 0; from + wanted.length <= text.length; ) {
    const part = text.slice(from, from + stepLength + wanted.length - 1);
    let next = stepLength;
    for (let at = part.indexOf(wanted); at !== -1; ) {
      found = true;
      const end = at + wanted.length;
      if (!visit(from + at, from + end)) return true;
      next = Math.max(next, end);
      at = part.indexOf(wanted, end);
    }
    from += next;
    yield;
  }
  return found;
}

/** Where a piece begins in the text without returns, and in the text itself. */
interface Piece {
  readonly plain: number;
  readonly original: number;
}

/** The text with a single character for each line end. */
function* withoutReturns(text: string): Steps<{ plain: string; pieces: Piece[] }> {
  const parts: string[] = [];
  const pieces: Piece[] = [];
  let plain = 0;
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + stepLength, text.length);
    if (text[end - 1] === '\r' && end < text.length) end++;
    const part = text.slice(start, end).replaceAll('\r\n', '\n');
    parts.push(part);
    pieces.push({ plain, original: start });
    plain += part.length;
    start = end;
    yield;
  }
  return { plain: parts.join(''), pieces };
}

/** Translates positions in the text without returns, which come in order, to positions in the text. */
function originals(text: string, pieces: readonly Piece[]): (position: number) => number {
  let at = 0;
  let removed = 0;
  let next = text.indexOf('\r\n');
  return (position) => {
    const before = at;
    while ((pieces[at + 1]?.plain ?? Number.POSITIVE_INFINITY) <= position) at++;
    const piece = pieces[at];
    if (at !== before && piece !== undefined) {
      removed = piece.original - piece.plain;
      next = text.indexOf('\r\n', piece.original);
    }
    while (next !== -1 && next - removed < position) {
      removed++;
      next = text.indexOf('\r\n', next + 2);
    }
    return position + removed;
  };
}
