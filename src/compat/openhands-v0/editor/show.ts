/** How the editor shows text: numbered lines, within a number of characters. */
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
export function snippet(path: string, text: string, first: number, count: number): Text {
  const from = Math.max(first - contextLines, 1);
  const lines = plainLines(text).slice(from - 1, first + count - 1 + contextLines);
  return numbered(words('edit.snippet_of', { path }), lines, from);
}

/** The lines of a text without their line ends. */
export function plainLines(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

export function clip(text: string, note: 'edit.text_clipped' | 'edit.directory_clipped'): Text {
  return text.length <= maxCharacters ? text : [text.slice(0, maxCharacters), words(note)];
}
