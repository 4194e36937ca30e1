/** Applies edit steps to a text. Changes nothing but the text that a step names. */
import { type EditStep, WorkcellError } from '../../../protocol/index.js';
import { ambiguous, noMatch } from './edit-errors.js';

export interface Edited {
  readonly text: string;
  /** How many places changed. */
  readonly changes: number;
}

/** `path` is for messages. */
export function editText(text: string, steps: readonly EditStep[], path: string): Edited {
  let edited = text;
  let changes = 0;
  for (const [index, step] of steps.entries()) {
    const which = steps.length === 1 ? '' : `Edit ${index + 1} of ${steps.length}: `;
    const result =
      step.insertLine === undefined
        ? replace(edited, step, path, which)
        : insert(edited, step, step.insertLine, which);
    edited = result.text;
    changes += result.changes;
  }
  return { text: edited, changes };
}

interface Match {
  readonly start: number;
  readonly end: number;
}

function replace(text: string, step: EditStep, path: string, which: string): Edited {
  const { oldText = '', newText = '' } = step;
  if (oldText === newText) {
    throw new WorkcellError(
      'invalid-action',
      `${which}oldText and newText are the same, so there is nothing to change.`,
    );
  }
  const matches = findMatches(text, oldText);
  if (matches.length === 0) throw noMatch(text, oldText, path, which);
  if (matches.length > 1 && !step.replaceAll) {
    throw ambiguous(
      text,
      matches.map(({ start }) => start),
      path,
      which,
    );
  }
  const pieces: string[] = [];
  const fileIsCrLf = isCrLf(text);
  let position = 0;
  for (const { start, end } of matches) {
    pieces.push(text.slice(position, start), withLineEnds(newText, text.slice(start, end), fileIsCrLf));
    position = end;
  }
  pieces.push(text.slice(position));
  return { text: pieces.join(''), changes: matches.length };
}

/** Places of the exact text, or else of the same lines with other line ends. */
function findMatches(text: string, wanted: string): Match[] {
  const exact: Match[] = [];
  for (let start = text.indexOf(wanted); start !== -1; start = text.indexOf(wanted, start + wanted.length)) {
    exact.push({ start, end: start + wanted.length });
  }
  if (exact.length > 0 || !wanted.includes('\n')) return exact;
  const pattern = wanted.split(/\r?\n/).map(escapeLiteral).join('\\r?\\n');
  return [...text.matchAll(new RegExp(pattern, 'g'))].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
}

function escapeLiteral(literal: string): string {
  return literal.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

/** Gives new text the line ends of the text that it replaces, or of the file where that text has none. */
function withLineEnds(newText: string, replaced: string, fileIsCrLf: boolean): string {
  const usesCrLf = replaced.includes('\n') ? replaced.includes('\r\n') : fileIsCrLf;
  if (usesCrLf) return newText.replace(/\r?\n/g, '\r\n');
  return replaced.includes('\n') ? newText.replace(/\r\n/g, '\n') : newText;
}

function isCrLf(text: string): boolean {
  const first = text.indexOf('\n');
  if (first <= 0) return false;
  return count(text, '\r\n') * 2 > count(text, '\n');
}

function count(text: string, part: string): number {
  let found = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) found++;
  return found;
}

function insert(text: string, { newText = '' }: EditStep, line: number, which: string): Edited {
  if (newText === '') {
    throw new WorkcellError('invalid-action', `${which}newText is empty, so there is nothing to insert.`);
  }
  const position = positionAfter(text, line, which);
  const fileIsCrLf = isCrLf(text);
  const lineEnd = fileIsCrLf ? '\r\n' : '\n';
  let lines = withLineEnds(newText, '', fileIsCrLf);
  const afterOpenLine = position > 0 && text[position - 1] !== '\n';
  if (afterOpenLine) lines = lineEnd + lines;
  else if (!lines.endsWith('\n')) lines += lineEnd;
  return { text: text.slice(0, position) + lines + text.slice(position), changes: 1 };
}

/** Where the line after the given one starts. */
function positionAfter(text: string, line: number, which: string): number {
  let position = 0;
  for (let passed = 0; passed < line; passed++) {
    if (position === text.length) {
      throw new WorkcellError(
        'invalid-action',
        `${which}Cannot insert after line ${line}: the file has ${passed} lines. Use an insertLine from 0 to that.`,
        { details: { insertLine: line, totalLines: passed } },
      );
    }
    const lineEnd = text.indexOf('\n', position);
    position = lineEnd === -1 ? text.length : lineEnd + 1;
  }
  return position;
}
