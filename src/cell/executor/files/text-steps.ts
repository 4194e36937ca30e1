/** Looks through long texts in short steps. */
import type { Steps } from '../../../base/pace.js';

/** Characters or bytes of one step. */
export const stepLength = 65_536;

const lineFeed = 0x0a;

/** How many line ends are in a part of the text. */
export function* lineEnds(text: string, from = 0, to = text.length): Steps<number> {
  let count = 0;
  for (let start = from; start < to; start += stepLength) {
    const end = Math.min(start + stepLength, to);
    for (let at = start; at < end; at++) if (text.charCodeAt(at) === lineFeed) count++;
    yield;
  }
  return count;
}

/** How many lines a text has; a last one without line end counts. */
export function* lineCount(text: string): Steps<number> {
  return (yield* lineEnds(text)) + (text === '' || text.endsWith('\n') ? 0 : 1);
}

/** Where the line after so many line ends starts; `passed` is less where the text has fewer. */
export function* startOfLine(text: string, lines: number): Steps<{ position: number; passed: number }> {
  let position = 0;
  for (let passed = 0; passed < lines; passed++) {
    if (position === text.length) return { position, passed };
    const end = text.indexOf('\n', position);
    position = end === -1 ? text.length : end + 1;
    if (passed % stepLength === 0) yield;
  }
  return { position, passed: lines };
}

/** The numbers, from 1, of the lines at these positions, which are in order. */
export function* lineNumbers(text: string, positions: readonly number[]): Steps<number[]> {
  const numbers: number[] = [];
  let line = 1;
  let passed = 0;
  for (const position of positions) {
    line += yield* lineEnds(text, passed, position);
    passed = position;
    numbers.push(line);
  }
  return numbers;
}

/** How many characters two texts have in common at their beginning. */
export function* commonHead(left: string, right: string): Steps<number> {
  const most = Math.min(left.length, right.length);
  let start = 0;
  while (start < most && left.slice(start, start + stepLength) === right.slice(start, start + stepLength)) {
    start += stepLength;
    yield;
  }
  let same = Math.min(start, most);
  while (same < most && left.charCodeAt(same) === right.charCodeAt(same)) same++;
  return same;
}

/** How many characters two texts have in common at their end, at most `most`. */
export function* commonTail(left: string, right: string, most: number): Steps<number> {
  let same = 0;
  const part = (text: string) => text.slice(text.length - same - stepLength, text.length - same);
  while (same + stepLength <= most && part(left) === part(right)) {
    same += stepLength;
    yield;
  }
  while (same < most && left.charCodeAt(left.length - 1 - same) === right.charCodeAt(right.length - 1 - same))
    same++;
  return same;
}

/** Where the line of a position starts. */
export function lineStart(text: string, position: number): number {
  return position === 0 ? 0 : text.lastIndexOf('\n', position - 1) + 1;
}

/** Where the first line that starts behind a position starts; the end of the text when there is none. */
export function nextLine(text: string, position: number): number {
  const end = text.indexOf('\n', position);
  return end === -1 ? text.length : end + 1;
}
