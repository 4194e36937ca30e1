/** Applies edit steps to a text. Changes nothing but the text that a step names. */

import type { Steps } from '../../../base/pace.js';
import { type EditStep, WorkcellError } from '../../../protocol/index.js';
import { ambiguous, mostPlaces, noMatch, tooLarge } from './edit-errors.js';
import { visitPlaces } from './edit-places.js';
import { startOfLine, stepLength } from './text-steps.js';

/** Texts that are longer are not edited. */
export const maxEditedBytes = 16 * 1024 * 1024;

export interface Edited {
  readonly text: string;
  /** How many places changed. */
  readonly changes: number;
}

/** `path` is for messages. */
export function* editText(text: string, steps: readonly EditStep[], path: string): Steps<Edited> {
  let edited = text;
  let changes = 0;
  for (const [index, step] of steps.entries()) {
    const which = steps.length === 1 ? '' : `Edit ${index + 1} of ${steps.length}: `;
    const result =
      step.insertLine === undefined
        ? yield* replace(edited, step, path, which)
        : yield* insert(edited, step, step.insertLine, which);
    edited = result.text;
    changes += result.changes;
    // Each character takes a byte or more.
    if (edited.length > maxEditedBytes) throw tooLarge(path, edited.length, maxEditedBytes);
    yield;
  }
  return { text: edited, changes };
}

function replace(text: string, step: EditStep, path: string, which: string): Steps<Edited> {
  if (step.oldText === step.newText) {
    throw new WorkcellError(
      'invalid-action',
      `${which}oldText and newText are the same, so there is nothing to change.`,
    );
  }
  return step.replaceAll ? replaceAll(text, step, path, which) : replaceOne(text, step, path, which);
}

function* replaceOne(text: string, step: EditStep, path: string, which: string): Steps<Edited> {
  const { oldText = '', newText = '' } = step;
  const places: { start: number; end: number }[] = [];
  yield* visitPlaces(text, oldText, (start, end) => {
    places.push({ start, end });
    return places.length <= mostPlaces;
  });
  const [place] = places;
  if (place === undefined) throw yield* noMatch(text, oldText, path, which);
  const { start, end } = place;
  if (places.length > 1) {
    const starts = places.map((each) => each.start);
    throw yield* ambiguous(text, starts, path, which);
  }
  const fresh = withLineEnds(newText, text.slice(start, end), isCrLf(text));
  return { text: text.slice(0, start) + fresh + text.slice(end), changes: 1 };
}

function* replaceAll(text: string, step: EditStep, path: string, which: string): Steps<Edited> {
  const { oldText = '', newText = '' } = step;
  const fileIsCrLf = isCrLf(text);
  // Places differ in nothing but their line ends.
  const freshOf = new Map<string, string>();
  const pieces: string[] = [];
  let parts: string[] = [];
  let position = 0;
  let changes = 0;
  let length = 0;
  yield* visitPlaces(text, oldText, (start, end) => {
    const replaced = text.slice(start, end);
    const kind = replaced.includes('\n') ? `${replaced.includes('\r\n')}` : '';
    const fresh = freshOf.get(kind) ?? withLineEnds(newText, replaced, fileIsCrLf);
    freshOf.set(kind, fresh);
    length += start - position + fresh.length;
    if (length > maxEditedBytes) throw tooLarge(path, length, maxEditedBytes);
    parts.push(text.slice(position, start), fresh);
    if (parts.length >= stepLength) {
      pieces.push(parts.join(''));
      parts = [];
    }
    position = end;
    changes++;
    return true;
  });
  if (changes === 0) throw yield* noMatch(text, oldText, path, which);
  return { text: [...pieces, ...parts, text.slice(position)].join(''), changes };
}

/** Gives new text the line ends of the text that it replaces, or of the file where that text has none. */
function withLineEnds(newText: string, replaced: string, fileIsCrLf: boolean): string {
  const usesCrLf = replaced.includes('\n') ? replaced.includes('\r\n') : fileIsCrLf;
  if (usesCrLf) return newText.replace(/\r?\n/g, '\r\n');
  return replaced.includes('\n') ? newText.replace(/\r\n/g, '\n') : newText;
}

/** Whether most of its first line ends are. */
function isCrLf(text: string): boolean {
  const beginning = text.slice(0, stepLength);
  const count = (part: string) => beginning.split(part).length - 1;
  return beginning.indexOf('\n') > 0 && count('\r\n') * 2 > count('\n');
}

function* insert(text: string, { newText = '' }: EditStep, line: number, which: string): Steps<Edited> {
  if (newText === '') {
    throw new WorkcellError('invalid-action', `${which}newText is empty, so there is nothing to insert.`);
  }
  const { position, passed } = yield* startOfLine(text, line);
  if (passed < line) {
    throw new WorkcellError(
      'invalid-action',
      `${which}Cannot insert after line ${line}: the file has ${passed} lines. Use an insertLine from 0 to that.`,
      { details: { insertLine: line, totalLines: passed } },
    );
  }
  const fileIsCrLf = isCrLf(text);
  const lineEnd = fileIsCrLf ? '\r\n' : '\n';
  let lines = withLineEnds(newText, '', fileIsCrLf);
  const afterOpenLine = position > 0 && text[position - 1] !== '\n';
  if (afterOpenLine) lines = lineEnd + lines;
  else if (!lines.endsWith('\n')) lines += lineEnd;
  return { text: text.slice(0, position) + lines + text.slice(position), changes: 1 };
}
