import { invalidGlob } from './glob-pattern.js';

const maxAlternatives = 1000;
/** All alternatives together, because a search tries each of them on each path. */
const maxCharacters = 65_536;

/** Writes out the alternatives of `{a,b}`, nested ones included. */
export function expandBraces(pattern: string): string[] {
  const { alternatives, end } = expandFrom(pattern, 0, false);
  if (end < pattern.length) throw invalidGlob(pattern, 'a "}" has no "{"');
  if (alternatives.reduce((total, alternative) => total + alternative.length, 0) > maxCharacters) {
    throw invalidGlob(pattern, 'its braces stand for patterns that are too long together');
  }
  return alternatives;
}

/** Reads up to the end of the pattern or of the group; returns what may stand there, and where it ends. */
function expandFrom(
  pattern: string,
  start: number,
  inGroup: boolean,
): { alternatives: string[]; end: number } {
  const complete: string[] = [];
  let current = [''];
  let index = start;
  for (; index < pattern.length; index++) {
    const character = pattern.charAt(index);
    if (character === '\\') {
      current = append(current, [pattern.slice(index, index + 2)], pattern);
      index++;
    } else if (character === '[') {
      const end = classEnd(pattern, index);
      current = append(current, [pattern.slice(index, end + 1)], pattern);
      index = end;
    } else if (character === '{') {
      const group = expandFrom(pattern, index + 1, true);
      current = append(current, group.alternatives, pattern);
      index = group.end;
    } else if (character === ',' && inGroup) {
      complete.push(...current);
      current = [''];
    } else if (character === '}') {
      return { alternatives: [...complete, ...current], end: index };
    } else {
      current = append(current, [character], pattern);
    }
  }
  if (inGroup) throw invalidGlob(pattern, 'a "{" has no "}"');
  return { alternatives: current, end: index };
}

function append(heads: readonly string[], tails: readonly string[], pattern: string): string[] {
  if (heads.length * tails.length > maxAlternatives) {
    throw invalidGlob(pattern, `its braces stand for more than ${maxAlternatives} patterns`);
  }
  return heads.flatMap((head) => tails.map((tail) => head + tail));
}

/** The position of the `]`, or of the `[` itself when there is none, which the parser refuses later. */
function classEnd(pattern: string, start: number): number {
  const first = start + (/^\[[!^]/.test(pattern.slice(start, start + 2)) ? 2 : 1);
  const end = pattern.indexOf(']', first + 1);
  return end === -1 ? start : end;
}
