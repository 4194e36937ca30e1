import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type SanitizeMode, Sanitizer } from '../../src/cli/sanitize.js';

function sanitize(mode: SanitizeMode, ...chunks: string[]): string {
  const sanitizer = new Sanitizer(mode);
  return chunks.map((chunk) => sanitizer.write(chunk)).join('') + sanitizer.end();
}

const reset = '\x1b[0m\x1b[?25h';

describe('on a terminal', () => {
  test.each([
    ['colours', '\x1b[1;31mred\x1b[0m', `\x1b[1;31mred\x1b[0m${reset}`],
    ['true colour', '\x1b[38:2:1:2:3mx', `\x1b[38:2:1:2:3mx${reset}`],
    ['a progress bar', '10%\r\x1b[K20%\x1b[2A', '10%\r\x1b[K20%\x1b[2A'],
    ['a hidden cursor, shown again at the end', '\x1b[?25lx', `\x1b[?25lx${reset}`],
    ['a bell and a backspace', 'a\b\x07', 'a\b\x07'],
    ['text of all kinds', 'žluť 😀\t\n', 'žluť 😀\t\n'],
  ])('%s passes', (_name, input, expected) => expect(sanitize('terminal', input)).toBe(expected));

  test.each([
    ['clipboard', '\x1b]52;c;aGk=\x07'],
    ['clipboard, other terminator', '\x1b]52;c;aGk=\x1b\\'],
    ['clipboard, eight-bit', '\x9d52;c;aGk=\x9c'],
    ['title', '\x1b]0;title\x07'],
    ['hyperlink', '\x1b]8;;http://x\x1b\\'],
    ['device control', '\x1bP$q"p\x1b\\'],
    ['application command', '\x1b_Ga=T;AAAA\x1b\\'],
    ['privacy message', '\x1b^hi\x1b\\'],
    ['device attributes', '\x1b[c\x1b[>0c\x1b[=c\x9bc'],
    ['status and position reports', '\x1b[5n\x1b[6n\x1b[?6n'],
    ['title report', '\x1b[21t'],
    ['answerback', '\x05'],
    ['alternate screen', '\x1b[?1049h'],
    ['bracketed paste and mouse', '\x1b[?2004h\x1b[?1003h'],
    ['key encoding', '\x1b[>4;2m\x1b[=1u\x1b[?u'],
    ['scrollback erased', '\x1b[3J'],
    ['full reset', '\x1bc'],
    ['character sets', '\x1b(0\x0e\x0f'],
    ['repeat', '\x1b[99999999b'],
    ['overlong sequence', `\x1b[${'1;'.repeat(40)}m`],
  ])('%s is dropped', (_name, input) => expect(sanitize('terminal', `a${input}b`)).toBe('ab'));

  test('a string that never ends does not swallow the next line', () => {
    expect(sanitize('terminal', 'a\x1b]0;broken\nnext')).toBe('a\nnext');
  });

  test('a sequence broken off by another is dropped and the other counts', () => {
    expect(sanitize('terminal', '\x1b[3\x1b[31mx')).toBe(`\x1b[31mx${reset}`);
    expect(sanitize('terminal', '\x1b]0;t\x1b[31mx')).toBe(`\x1b[31mx${reset}`);
  });
});

describe('elsewhere', () => {
  test.each([
    ['colours', '\x1b[31mred\x1b[0m', 'red'],
    ['terminal line ends become plain', 'a\r\nb\r\r\n', 'a\nb\n'],
    ['a lone return stays', '10%\r20%\r', '10%\r20%\r'],
    ['a return before an escape waits', 'a\r\x1b[0m\nb', 'a\nb'],
    ['bells and backspaces', 'a\b\x07', 'a'],
  ])('%s', (_name, input, expected) => expect(sanitize('plain', input)).toBe(expected));
});

/** Text rich in what makes terminals act. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\x1b',
        '\x1b[',
        '\x1b]52;',
        '\x1bP',
        '\x1b_',
        '\x9b',
        '\x9d',
        '\x9c',
        '\x07',
        '\x1b\\',
        '\r',
        '\n',
      ),
      fc.constantFrom('?', '>', ';', '3', '25', 'm', 'h', 'c', 'n', 'J', 'A', ' ', '\x18', '\x7f', '\x00'),
      fc.string({ unit: 'binary', maxLength: 4 }),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));

describe('for any input', () => {
  test('where the stream is cut makes no difference', () => {
    fc.assert(
      fc.property(
        hostile,
        fc.constantFrom<SanitizeMode>('terminal', 'plain'),
        fc.infiniteStream(fc.nat(5)),
        (text, mode, cuts) => {
          const chunks: string[] = [];
          for (let rest = text; rest !== ''; ) {
            const length = (cuts.next().value ?? 0) + 1;
            chunks.push(rest.slice(0, length));
            rest = rest.slice(length);
          }
          expect(sanitize(mode, ...chunks)).toBe(sanitize(mode, text));
        },
      ),
      { numRuns: 3000 },
    );
  });

  test('only listed sequences and harmless controls come out', () => {
    const safe =
      /^(?:[^\x00-\x1f\x7f-\x9f]|[\n\r\t\b\x07]|\x1b\[[0-9;:]*[ABCDEFGHLMPSTXdfm@`]|\x1b\[[012]?[JK]|\x1b\[\?25[hl])*$/;
    fc.assert(
      fc.property(hostile, (text) => {
        expect(sanitize('terminal', text)).toMatch(safe);
        expect(sanitize('plain', text)).toMatch(/^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$/);
      }),
      { numRuns: 3000 },
    );
  });

  test('cleaning twice changes nothing more', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const once = sanitize('plain', text);
        expect(sanitize('plain', once)).toBe(once);
      }),
    );
  });

  test('text without controls is kept whole', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        fc.pre(!/[\x00-\x1f\x7f-\x9f]/.test(text));
        expect(sanitize('terminal', text)).toBe(text);
        expect(sanitize('plain', text)).toBe(text);
      }),
    );
  });
});
