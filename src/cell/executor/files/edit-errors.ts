/** Explains why a replacement found no place, or too many. */

import type { Steps } from '../../../base/pace.js';
import { WorkcellError } from '../../../protocol/index.js';
import { quote } from './file-errors.js';
import { lineNumbers } from './text-steps.js';

/** Messages name so many places; nobody needs to know of more. */
export const mostPlaces = 20;

/** The search for a similar line compares so many characters, in a text that is not longer. */
const mostCompared = 1024 * 1024;

export function* noMatch(text: string, wanted: string, path: string, which: string): Steps<WorkcellError> {
  const similar = yield* similarLine(text, wanted);
  const hint =
    similar === undefined
      ? 'Read the file again and copy the text exactly, indentation included.'
      : `Line ${similar} differs from it only in white space or letter case; read it and copy the text exactly.`;
  return new WorkcellError('edit-no-match', `${which}The oldText is not in ${quote(path)}. ${hint}`, {
    details: { path, ...(similar === undefined ? {} : { similarLine: similar }) },
  });
}

/** `positions`: of the first places, and one more than `mostPlaces` when there are more. */
export function* ambiguous(
  text: string,
  positions: readonly number[],
  path: string,
  which: string,
): Steps<WorkcellError> {
  const lines = yield* lineNumbers(text, positions.slice(0, mostPlaces));
  const hasMore = positions.length > mostPlaces;
  const times = hasMore ? `more than ${mostPlaces}` : positions.length;
  return new WorkcellError(
    'edit-ambiguous',
    `${which}The oldText is in ${quote(path)} ${times} times, at lines ${lines.join(', ')}${hasMore ? ', …' : ''}. Add lines around it until it is unique, or set replaceAll.`,
    { details: { path, lines } },
  );
}

export function tooLarge(path: string, sizeBytes: number, limitBytes: number): WorkcellError {
  return new WorkcellError(
    'file-too-large',
    `${quote(path)} would have ${sizeBytes} bytes or more, and edits allow ${limitBytes}. Change it with a command such as sed in the shell.`,
    { details: { path, sizeBytes, limitBytes } },
  );
}

interface Line {
  readonly number: number;
  readonly essence: string;
}

/** The line where the wanted text starts, ignoring white space and letter case. */
function* similarLine(text: string, wanted: string): Steps<number | undefined> {
  if (text.length + wanted.length > mostCompared) return undefined;
  const wantedLines = (yield* filledLines(wanted)).map(({ essence }) => essence);
  const [first] = wantedLines;
  if (first === undefined) return undefined;
  const lines = yield* filledLines(text);
  let compared = 0;
  const holds = (index: number): boolean =>
    wantedLines.every((line, offset) => {
      const { essence = '' } = lines[index + offset] ?? {};
      compared += essence.length + 1;
      return essence.includes(line);
    });
  for (let index = 0; index < lines.length && compared < mostCompared; index++) {
    if (holds(index)) return lines[index]?.number;
    if (index % 256 === 0) yield;
  }
  return lines.find(({ essence }) => essence === first)?.number;
}

/** The lines that are more than white space. */
function* filledLines(text: string): Steps<Line[]> {
  const lines: Line[] = [];
  for (let start = 0, number = 1; start < text.length; number++) {
    const found = text.indexOf('\n', start);
    const end = found === -1 ? text.length : found;
    const essence = text.slice(start, end).replace(/\s+/g, '').toLowerCase();
    if (essence !== '') lines.push({ number, essence });
    start = end + 1;
    if (number % 256 === 0) yield;
  }
  return lines;
}
