/**
 * Glob patterns: `*`, `**`, `?`, `[a-z]`, `{a,b}`. Matching never takes more than pattern length times path length,
 * which a translation to regular expressions would not promise for patterns or ignore files made to hurt.
 */
import { WorkcellError } from '../../../../protocol/index.js';
import { expandBraces } from './expand-braces.js';
import { matchSegment, parseSegment, type Segment } from './glob-segment.js';

export type PathMatcher = (path: string) => boolean;

/** `**` as a whole part of a pattern. */
const anySegments = Symbol('**');

type Part = Segment | typeof anySegments;

/** Compiles a pattern; one without a slash matches the name of a file at any depth. */
export function compileFileGlob(pattern: string): PathMatcher {
  const matchers = expandBraces(pattern).map((alternative) => {
    const relative = alternative.replace(/^(\.?\/)+/, '');
    return compilePath(relative, { anchored: alternative.includes('/') });
  });
  return (path) => matchers.some((matches) => matches(path));
}

/** Compiles a pattern without braces. Unless anchored, it may start at any directory. */
export function compilePath(pattern: string, options: { anchored: boolean }): PathMatcher {
  const parts: Part[] = options.anchored ? [] : [anySegments];
  for (const part of splitParts(pattern)) {
    if (!/^\*{2,}$/.test(part)) parts.push(parseSegment(part, pattern));
    else if (parts.at(-1) !== anySegments) parts.push(anySegments);
  }
  if (parts.at(-1) === anySegments && parts.length > 1) parts.push(parseSegment('*', pattern));
  return (path) => matchParts(parts, path.split('/'));
}

export function invalidGlob(pattern: string, why: string): WorkcellError {
  return new WorkcellError(
    'invalid-pattern',
    `The glob ${JSON.stringify(pattern.slice(0, 200))} is not valid: ${why}. Put a backslash before a character that you mean literally.`,
    { details: { pattern } },
  );
}

/** Slashes within `[…]` do not separate. */
function splitParts(pattern: string): string[] {
  const parts: string[] = [];
  let part = '';
  let inClass = false;
  for (let index = 0; index < pattern.length; index++) {
    const character = pattern.charAt(index);
    if (character === '\\') {
      part += character + pattern.charAt(++index);
      continue;
    }
    if (character === '[') inClass = true;
    else if (character === ']') inClass = false;
    if (character !== '/' || inClass) {
      part += character;
    } else if (part !== '') {
      parts.push(part);
      part = '';
    }
  }
  if (part !== '') parts.push(part);
  return parts;
}

/** Each `**` takes as little as it can; only the last one ever tries again with more. */
function matchParts(parts: readonly Part[], segments: readonly string[]): boolean {
  let part = 0;
  let segment = 0;
  let retryPart = -1;
  let retrySegment = 0;
  while (segment < segments.length) {
    const current = parts[part];
    if (current === anySegments) {
      retryPart = ++part;
      retrySegment = segment;
    } else if (current !== undefined && matchSegment(current, segments[segment] ?? '')) {
      part++;
      segment++;
    } else if (retryPart !== -1) {
      part = retryPart;
      segment = ++retrySegment;
    } else {
      return false;
    }
  }
  return parts.slice(part).every((rest) => rest === anySegments);
}
