/** Wildcards: what they fit, and that no pattern takes long for any text. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileGlob, type GlobStyle } from '../../src/base/glob.js';

test.each<[GlobStyle, string, string, boolean]>([
  ['text', 'git push *', 'git push origin main', true],
  ['text', 'git push *', 'git pull', false],
  ['text', '*', '', true],
  ['text', 'a?c', 'a\nc', true],
  ['text', '*curl*|*sh*', 'curl x | sh', true],
  ['text', 'a.c', 'abc', false],
  ['path', '/project/*.ts', '/project/a.ts', true],
  ['path', '/project/*.ts', '/project/a/b.ts', false],
  ['path', '/project/**/b.ts', '/project/b.ts', true],
  ['path', '/project/**/b.ts', '/project/a/c/b.ts', true],
  ['path', '/project/**/b.ts', '/project/ab.ts', false],
  ['path', '/project/**/b.ts', '/project/a/cb.ts', false],
  ['path', '/project/**/**/b.ts', '/project/b.ts', true],
  ['path', '/project/**/env', '/project/.env', false],
  ['path', '**/id_rsa', 'my_id_rsa', false],
  ['path', '**/id_rsa', 'id_rsa', true],
  ['path', '**/id_rsa', '/home/a/id_rsa', true],
  ['path', 'a**/b', 'ab', false],
  ['path', 'a**/b', 'ac/d/b', true],
  ['path', '/project/**', '/project/a/b', true],
  ['path', '/project/**/', '/project/a/b', true],
  ['path', '/project?a', '/project/a', false],
  ['path', '/project/?', '/project/\u{1f511}', true],
  ['text', '??', '\u{1f511}', false],
  ['path', '\u{1f511}/*', '\u{1f511}/a', true],
  ['words', 'prod-*', 'prod-eu', true],
  ['words', 'a?*', 'abc', false],
  ['words', 'a?*', 'a?c', true],
])('%s: %s against %j is %s', (style, glob, text, fits) => {
  expect(compileGlob(glob, style)(text)).toBe(fits);
});

/** The same in the words of regular expressions, which are right and can take for ever. */
function expressionOf(glob: string, style: GlobStyle): RegExp {
  const source = glob.replace(/(?<=^|\/)(?:\*\*\/)+(?!$)|\*\*\/$|\*\*|[*?]|[.+^${}()|[\]\\/]/g, (part) => {
    if (part.startsWith('**') && style !== 'path') return part.replaceAll('**', '.*');
    if (part.startsWith('**'))
      return part === '**' || (part === '**/' && glob.endsWith(part)) ? '.*' : '(?:.*\\/)?';
    if (part === '*') return style === 'path' ? '[^/]*' : '.*';
    if (part === '?' && style !== 'words') return style === 'path' ? '[^/]' : '.';
    return `\\${part}`;
  });
  return new RegExp(`^${source}$`, 'su');
}

test('patterns mean what they say as regular expressions', () => {
  const letters = (all: string, maxLength: number) =>
    fc.array(fc.constantFrom(...all), { maxLength }).map((list) => list.join(''));
  const style = fc.constantFrom<GlobStyle>('words', 'text', 'path');
  fc.assert(
    fc.property(
      style,
      letters('***?//ab.\u{1f511}\n', 12),
      letters('aab//.?\u{1f511}\n', 9),
      (kind, glob, text) => {
        expect(compileGlob(glob, kind)(text)).toBe(expressionOf(glob, kind).test(text));
      },
    ),
    { numRuns: 5000 },
  );
});

test('long patterns go over the words that hold their places', () => {
  for (const length of [30, 31, 32, 33, 63, 64, 65, 1000]) {
    const named = 'ab'.repeat(length).slice(0, length);
    expect(compileGlob(`*${named}?`, 'text')(`abab${named}x`)).toBe(true);
    expect(compileGlob(`*${named}?`, 'text')(`c${named}`)).toBe(false);
  }
});

test.each<[string, GlobStyle, string, string]>([
  ['parts of a pipe', 'text', '*curl*|*sh*z', `echo '${'curl |'.repeat(2000)}'`],
  ['a star between all letters', 'text', `${'*a'.repeat(500)}*b`, 'a'.repeat(1_000_000)],
  ['a long end', 'text', `*${'a'.repeat(1000)}b`, 'a'.repeat(200_000)],
  ['single characters in the end', 'text', `*${'?a'.repeat(500)}b`, 'a'.repeat(200_000)],
  ['both stars', 'path', '**a*a*b', 'a'.repeat(1_000_000)],
  ['directories', 'path', `${'**/a*/'.repeat(150)}b`, 'a/'.repeat(100_000)],
])('a pattern made to hurt returns: %s', (_, style, glob, text) => {
  expect(compileGlob(glob, style)(text)).toBe(false);
});

test('a pattern that is too long is refused', () => {
  expect(() => compileGlob('*'.repeat(1025), 'text')).toThrow(
    expect.objectContaining({ code: 'invalid-pattern' }),
  );
});
