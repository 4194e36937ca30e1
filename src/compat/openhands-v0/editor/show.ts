/** How the editor shows text: numbered lines, within a number of characters. */
import { editor } from '../openhands-messages.js';

const maxCharacters = 16_000;
const contextLines = 4;

/** All lines from `first` on, counted from 1, with their numbers. */
export function numbered(what: string, lines: readonly string[], first = 1): string {
  const shown = lines.map((line, index) => `${String(first + index).padStart(6)}\t${line}`).join('\n');
  return editor.numbered(what, clip(shown, 'text'));
}

/** The changed lines and a few around them. `first` counts from 1. */
export function snippet(path: string, text: string, first: number, count: number): string {
  const from = Math.max(first - contextLines, 1);
  const lines = plainLines(text).slice(from - 1, first + count - 1 + contextLines);
  return numbered(editor.snippetOf(path), lines, from);
}

/** The lines of a text without their line ends. */
export function plainLines(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

export function clip(text: string, kind: keyof typeof editor.clipped): string {
  return text.length <= maxCharacters ? text : text.slice(0, maxCharacters) + editor.clipped[kind];
}
