/** One part of a glob pattern, between two slashes. */
import { invalidGlob } from './glob-pattern.js';

type Token =
  | { readonly kind: 'star' }
  | { readonly kind: 'one' }
  | { readonly kind: 'literal'; readonly code: number }
  | {
      readonly kind: 'class';
      readonly negated: boolean;
      readonly ranges: readonly (readonly [number, number])[];
    };

export type Segment = readonly Token[];

/** `pattern` is the whole pattern, for messages. */
export function parseSegment(part: string, pattern: string): Segment {
  const codes = Array.from(part, (character) => character.codePointAt(0) ?? 0);
  const tokens: Token[] = [];
  for (let index = 0; index < codes.length; index++) {
    const code = codes[index] ?? 0;
    if (code === star) {
      if (tokens.at(-1)?.kind !== 'star') tokens.push({ kind: 'star' });
    } else if (code === questionMark) {
      tokens.push({ kind: 'one' });
    } else if (code === openBracket) {
      const { token, end } = parseClass(codes, index, pattern);
      tokens.push(token);
      index = end;
    } else if (code === backslash) {
      const next = codes[++index];
      if (next === undefined) throw invalidGlob(pattern, 'it ends with a backslash');
      tokens.push({ kind: 'literal', code: next });
    } else {
      tokens.push({ kind: 'literal', code });
    }
  }
  return tokens;
}

/** Each `*` takes as little as it can; only the last one ever tries again with more. */
export function matchSegment(tokens: Segment, text: string): boolean {
  let token = 0;
  let position = 0;
  let retryToken = -1;
  let retryPosition = 0;
  while (position < text.length) {
    const current = tokens[token];
    const code = text.codePointAt(position) ?? 0;
    if (current?.kind === 'star') {
      retryToken = ++token;
      retryPosition = position;
    } else if (current !== undefined && matchOne(current, code)) {
      token++;
      position += width(code);
    } else if (retryToken !== -1) {
      retryPosition += width(text.codePointAt(retryPosition) ?? 0);
      token = retryToken;
      position = retryPosition;
    } else {
      return false;
    }
  }
  return tokens.slice(token).every((rest) => rest.kind === 'star');
}

const star = 0x2a;
const questionMark = 0x3f;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const backslash = 0x5c;
const dash = 0x2d;
const negations: readonly (number | undefined)[] = [0x21, 0x5e];

function parseClass(codes: readonly number[], start: number, pattern: string): { token: Token; end: number } {
  const negated = negations.includes(codes[start + 1]);
  const first = start + (negated ? 2 : 1);
  const ranges: [number, number][] = [];
  for (let index = first; index < codes.length; index++) {
    if (codes[index] === closeBracket && index > first)
      return { token: { kind: 'class', negated, ranges }, end: index };
    if (codes[index] === backslash && index + 1 < codes.length) index++;
    const low = codes[index] ?? 0;
    const isRange =
      codes[index + 1] === dash && codes[index + 2] !== undefined && codes[index + 2] !== closeBracket;
    if (isRange) index += 2;
    const high = codes[index] ?? 0;
    if (high < low) throw invalidGlob(pattern, 'a range in it runs backwards');
    ranges.push([low, high]);
  }
  throw invalidGlob(pattern, 'a "[" has no "]"');
}

function matchOne(token: Token, code: number): boolean {
  if (token.kind === 'one') return true;
  if (token.kind === 'literal') return token.code === code;
  if (token.kind === 'star') return false;
  return token.ranges.some(([low, high]) => code >= low && code <= high) !== token.negated;
}

function width(code: number): number {
  return code > 0xffff ? 2 : 1;
}
