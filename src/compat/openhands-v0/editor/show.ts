/** How the editor shows text: numbered lines, within a number of characters. */
import type { Steps } from '../../../base/pace.js';
import { startOfLine } from '../../../cell/executor/files/text-steps.js';
import type { Text } from '../../messages.js';
import { words } from '../openhands-words.js';

const maxCharacters = 16_000;
const contextLines = 4;

/** All lines from `first` on, counted from 1, with their numbers. An empty file has one, which is empty. */
export function numbered(what: Text, lines: readonly string[], first = 1): Text {
  const shown = (lines.length === 0 ? [''] : lines)
    .map((line, index) => `${String(first + index).padStart(6)}\t${line}`)
    .join('\n');
  return words('edit.numbered', { what, lines: clip(shown, 'edit.text_clipped') });
}

/** The changed lines and a few around them. `first` counts from 1. */
export function* snippet(path: string, text: string, first: number, count: number): Steps<Text> {
  const from = Math.max(first - contextLines, 1);
  const lines = yield* linesFrom(text, from, first + count - from + contextLines);
  return numbered(words('edit.snippet_of', { path }), lines, from);
}

/** Lines without their line ends, from one that counts from 1: so many, but not many more than are shown. */
export function* linesFrom(text: string, first: number, count: number): Steps<string[]> {
  const lines: string[] = [];
  let { position } = yield* startOfLine(text, first - 1);
  for (let shown = 0; lines.length < count && shown <= maxCharacters && position < text.length; ) {
    const found = text.indexOf('\n', position);
    const end = found === -1 ? text.length : found;
    lines.push(text.slice(position, end));
    shown += end - position + 1;
    position = end + 1;
  }
  return lines;
}

export function clip(text: string, note: 'edit.text_clipped' | 'edit.directory_clipped'): Text {
  return text.length <= maxCharacters ? text : [text.slice(0, maxCharacters), words(note)];
}
