/** The changes that the editor makes to a text. */
import { words } from '../openhands-words.js';
import { EditorError, invalidParameter } from './editor-error.js';
import { plainLines } from './show.js';

export interface Change {
  readonly text: string;
  /** First changed line, counted from 1. */
  readonly line: number;
  readonly lineCount: number;
}

/** The text must occur exactly once: as given, or else without the blanks around it. */
export function replaceOnce(text: string, oldText: string, newText: string, path: string): Change {
  if (oldText === newText) throw new EditorError(words('edit.same_strings'));
  const exact = placesOf(text, oldText);
  const [wanted, fresh] = exact.length > 0 ? [oldText, newText] : [oldText.trim(), newText.trim()];
  const places = exact.length > 0 || wanted === '' ? exact : placesOf(text, wanted);
  const [place] = places;
  if (place === undefined) throw new EditorError(words('edit.no_match', { old_str: oldText, path }));
  if (places.length > 1) {
    throw new EditorError(
      words('edit.several_matches', { old_str: wanted, lines: linesAt(text, places).join(', ') }),
    );
  }
  return {
    text: text.slice(0, place) + fresh + text.slice(place + wanted.length),
    line: lineAt(text, place),
    lineCount: fresh.split('\n').length,
  };
}

/** Puts the lines of `newText` after a line; 0 is the beginning. */
export function insertLines(text: string, line: number, newText: string): Change {
  const total = plainLines(text).length;
  if (line < 0 || line > total)
    throw invalidParameter('insert_line', line, words('edit.insert_line', { lines: total }));
  const position = positionAfter(text, line);
  // Add a line end to a last line without one, or the inserted text would join it.
  const separator = position > 0 && text[position - 1] !== '\n' ? '\n' : '';
  const lines = newText.split('\n');
  return {
    text: `${text.slice(0, position)}${separator}${lines.join('\n')}\n${text.slice(position)}`,
    line: line + 1,
    lineCount: lines.length,
  };
}

function placesOf(text: string, wanted: string): number[] {
  const places: number[] = [];
  // The empty text occurs everywhere, so it is unique only in an empty file.
  if (wanted === '') return lineStarts(text);
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length))
    places.push(at);
  return places;
}

function lineStarts(text: string): number[] {
  return text === '' ? [0] : [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)];
}

/** How many lines an answer names. */
const mostNamed = 100;

/** The lines of places that are in order, each once. */
function linesAt(text: string, places: readonly number[]): (number | string)[] {
  const lines: number[] = [];
  let line = 1;
  let passed = 0;
  for (const place of places) {
    for (let end = text.indexOf('\n', passed); end !== -1 && end < place; end = text.indexOf('\n', passed)) {
      line++;
      passed = end + 1;
    }
    if (lines.at(-1) === line) continue;
    if (lines.length === mostNamed) return [...lines, '…'];
    lines.push(line);
  }
  return lines;
}

function lineAt(text: string, position: number): number {
  return text.slice(0, position).split('\n').length;
}

function positionAfter(text: string, line: number): number {
  let position = 0;
  for (let passed = 0; passed < line; passed++) {
    const end = text.indexOf('\n', position);
    position = end === -1 ? text.length : end + 1;
  }
  return position;
}
