import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { atOnce } from '../../../../src/base/pace.js';
import { textDecoded } from '../../../../src/cell/executor/files/text-encoding.js';
import { excerpt } from '../../../../src/cell/executor/output/output-excerpt.js';
import { Spool } from '../../../../src/cell/executor/output/spool.js';
import { partialStart, wholeCharacters } from '../../../../src/cell/executor/output/utf8.js';

const text = fc.string({ unit: 'binary', maxLength: 400 });

describe('cutting text', () => {
  test('text cut anywhere decodes to the same text', () => {
    fc.assert(
      fc.property(text, fc.nat(1600), (value, at) => {
        const bytes = Buffer.from(value);
        const head = bytes.subarray(0, at);
        const cut = wholeCharacters(head);
        expect(head.length - cut).toBeLessThanOrEqual(3);
        expect(bytes.toString('utf8', 0, cut) + bytes.toString('utf8', cut)).toBe(value);
      }),
    );
  });

  test('bytes that are no text are not held back for ever', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const held = bytes.subarray(wholeCharacters(bytes));
        expect(held.length).toBeLessThanOrEqual(3);
        // The next ordinary byte releases what is held back, or completes a character with it.
        expect(wholeCharacters(Buffer.concat([held, Buffer.from('a')]))).toBe(held.length + 1);
      }),
    );
  });
});

test('long output decodes in steps as it does at once, whatever its bytes', () => {
  const bytes = Buffer.alloc(1_000_000);
  let state = 1;
  for (let at = 0; at < bytes.length; at++) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    // Mostly bytes of long characters, whole and broken.
    bytes[at] = 0x80 | (state >> 16);
  }
  let steps = 0;
  const decoding = textDecoded(bytes, 'utf8');
  let step = decoding.next();
  for (; !step.done; step = decoding.next()) steps++;
  expect(step.value === bytes.toString('utf8')).toBe(true);
  expect(steps).toBeGreaterThan(2);
});

describe('excerpt', () => {
  test('it is the whole or a head and a tail of it, in whole characters', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 8, max: 500 }), (value, limit) => {
        const spool = new Spool(() => '');
        spool.append(Buffer.from(value));
        const { data, truncated } = atOnce(excerpt(spool, limit));
        expect(truncated).toBe(Buffer.byteLength(value) > limit);
        if (!truncated) expect(data).toBe(value);
        else {
          const [head = '', tail = ''] = data.split(/\n\[\.\.\. \d+ bytes left out \.\.\.\]\n/);
          expect(value.startsWith(head)).toBe(true);
          expect(value.endsWith(tail)).toBe(true);
        }
      }),
    );
  });

  test('continuation bytes at the start are counted', () => {
    expect(partialStart(Buffer.from('€').subarray(1))).toBe(2);
    expect(partialStart(Buffer.from('a'))).toBe(0);
  });
});
