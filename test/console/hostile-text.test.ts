/** What a cell prints must not keep the page of the operator busy: the work grows as the text does. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { asciicast } from '../../console/src/exports.js';
import { picturesOf } from '../../console/src/parts/pictures.js';
import { fewPieces, firstLine, pieces, screenText, visible } from '../../console/src/visible.js';
import type { WorkcellEvent } from '../../src/protocol/index.js';

const size = 1024 * 1024;
/** What the expressions of the console look for, so that each of them begins at every character and ends at none. */
const units = [
  '\r',
  '\n',
  '\r\n',
  '\t',
  ' ',
  '\u001b',
  '\u001b[',
  '\u001b[0;',
  '\u001b]',
  '\u001bP',
  '0',
  '/',
  'A',
  '=',
];
const prefixes = ['', '\u001b[', '\u001b('];
const base = { at: 1_700_000_000_000, runtimeId: 'r', source: 'agent' as const };

/** The rule in words that are slow and plain: of a line, what stands after the last return that something follows. */
function lastWritten(line: string): string {
  const parts = line.split('\r');
  return parts.findLast((part) => part !== '') ?? '';
}

// Work that grows with the square of this size takes minutes, and no test has so long.
test.each(units)('a megabyte of %j is read as fast as any other', (unit) => {
  const text = `${unit.repeat(size / unit.length)}\u001b\\\u0001`;
  for (const prefix of prefixes) expect(screenText(`${prefix}${text}`)).toMatch(/\u0001$/);
  expect(visible(text)).toMatch(/U\+0001$/);
  expect(firstLine(text).length).toBeLessThan(250);
  expect(picturesOf({ outputs: [{ data: { 'image/png': text } }], screenshot: undefined })).toEqual([]);
});

test('an export reads an output without lines once, however often its command was watched', () => {
  const output = 'x'.repeat(8 * size);
  const marks = Array.from({ length: 100_000 }, (_, index): WorkcellEvent => {
    const progress = { pieces: index, outputBytes: index * 80 };
    return { ...base, id: index + 2, kind: 'progress', cause: 1, progress };
  });
  const events: WorkcellEvent[] = [
    { ...base, id: 1, kind: 'action', action: { action: 'run', command: 'watched' } },
    ...marks,
    { ...base, id: 200_000, kind: 'observation', cause: 1, observation: { observation: 'run', output } },
  ];
  expect(asciicast(events).trim().split('\n')).toHaveLength(3);
});

test('of a line that is written again and again the last is shown', () => {
  expect(screenText(`${'\r'.repeat(size)}x`)).toBe('x');
  expect(screenText(`x${'\r'.repeat(size)}`)).toBe('x');
  const text = fc.string({ unit: fc.constantFrom('\r', '\n', 'a', 'b') });
  fc.assert(
    fc.property(text, (printed) => {
      expect(screenText(printed)).toBe(printed.split('\n').map(lastWritten).join('\n'));
    }),
    { numRuns: 2000 },
  );
});

test('a text of hidden characters makes a bounded number of elements, and shows each of them', () => {
  const text = 'a\u200b'.repeat(50_000);
  expect(pieces(text)).toHaveLength(100_000);
  const few = fewPieces(text);
  expect(few).toHaveLength(4000);
  expect(few.slice(0, 2)).toEqual(pieces('a\u200b'));
  expect(few.map((piece) => piece.text).join('')).toBe(visible(text));
  expect(fewPieces('a\u200bc')).toEqual(pieces('a\u200bc'));
});
