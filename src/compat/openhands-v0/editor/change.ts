/** The changes that the editor makes to a text. */

import type { Steps } from '../../../base/pace.js';
import { visitText } from '../../../cell/executor/files/edit-places.js';
import { lineCount, lineNumbers, startOfLine } from '../../../cell/executor/files/text-steps.js';
import { words } from '../openhands-words.js';
import { EditorError, invalidParameter } from './editor-error.js';

export interface Change {
  readonly text: string;
  /** First changed line, counted from 1. */
  readonly line: number;
  readonly lineCount: number;
}

/** The text must occur exactly once: as given, or else without the blanks around it. */
export function* replaceOnce(text: string, oldText: string, newText: string, path: string): Steps<Change> {
  if (oldText === newText) throw new EditorError(words('edit.same_strings'));
  const exact = yield* placesOf(text, oldText);
  const [wanted, fresh] = exact.length > 0 ? [oldText, newText] : [oldText.trim(), newText.trim()];
  const places = exact.length > 0 || wanted === '' ? exact : yield* placesOf(text, wanted);
  const [place] = places;
  if (place === undefined) throw new EditorError(words('edit.no_match', { old_str: oldText, path }));
  if (places.length > 1) {
    const lines = yield* linesAt(text, places);
    throw new EditorError(words('edit.several_matches', { old_str: wanted, lines: lines.join(', ') }));
  }
  const [line = 1] = yield* lineNumbers(text, [place]);
  return {
    text: text.slice(0, place) + fresh + text.slice(place + wanted.length),
    line,
    lineCount: fresh.split('\n').length,
  };
}

/** Puts the lines of `newText` after a line; 0 is the beginning. */
export function* insertLines(text: string, line: number, newText: string): Steps<Change> {
  const total = yield* lineCount(text);
  if (line < 0 || line > total)
    throw invalidParameter('insert_line', line, words('edit.insert_line', { lines: total }));
  const { position } = yield* startOfLine(text, line);
  // Add a line end to a last line without one, or the inserted text would join it.
  const separator = position > 0 && text[position - 1] !== '\n' ? '\n' : '';
  return {
    text: `${text.slice(0, position)}${separator}${newText}\n${text.slice(position)}`,
    line: line + 1,
    lineCount: newText.split('\n').length,
  };
}

/** How many lines an answer names. */
const mostNamed = 100;

/** The first places, in as many lines as an answer names and one more, and at least two where there are two. */
function* placesOf(text: string, wanted: string): Steps<number[]> {
  const places: number[] = [];
  let lines = 0;
  let lineEnd = -1;
  const visit = (start: number) => {
    if (start > lineEnd) {
      lines++;
      const end = text.indexOf('\n', start);
      lineEnd = end === -1 ? text.length : end;
    } else if (places.length > 1) return true;
    places.push(start);
    return lines <= mostNamed;
  };
  // The empty text occurs everywhere, so it is unique only in an empty file.
  if (wanted !== '') yield* visitText(text, wanted, visit);
  else if (visit(0)) yield* visitText(text, '\n', (start) => visit(start + 1));
  return places;
}

/** The lines of places that are in order, each once. */
function* linesAt(text: string, places: readonly number[]): Steps<(number | string)[]> {
  const lines = [...new Set(yield* lineNumbers(text, places))];
  return lines.length > mostNamed ? [...lines.slice(0, mostNamed), '…'] : lines;
}
