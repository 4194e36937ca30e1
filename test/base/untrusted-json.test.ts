import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseUntrustedJson } from '../../src/base/untrusted-json.js';

const bounds = { bytes: 1_000_000, values: 1000, depth: 16 };
const parse = (text: string) => parseUntrustedJson(Buffer.from(text), bounds);

test('any JSON within the bounds is what it is, whatever its strings hold', () => {
  const strings = fc.array(fc.constantFrom('"', '\\', '[', '{', ',', 'x', 'é'), { maxLength: 300 });
  const value = fc.oneof(
    fc.json(),
    strings.map((parts) => JSON.stringify([parts.join('')])),
  );
  fc.assert(
    fc.property(value, (text) => {
      expect(JSON.stringify(parse(text))).toBe(JSON.stringify(JSON.parse(text)));
    }),
  );
});

test.each([
  ['too long', `"${'x'.repeat(1_000_001)}"`, 'bytes'],
  ['too many lists', `[${'[],'.repeat(2000)}1]`, 'values'],
  ['too many names', `{${Array.from({ length: 600 }, (_, index) => `"${index}":1`).join(',')}}`, 'values'],
  ['too deep', '['.repeat(500_000), 'levels'],
  ['too many values behind a string that ends in backslashes', `["\\\\",${'0,'.repeat(2000)}0]`, 'values'],
])('%s is refused before it is parsed', (_what, text, unit) => {
  expect(() => parse(text)).toThrow(RangeError);
  expect(() => parse(text)).toThrow(unit);
});

test('brackets and commas in strings do not count', () => {
  const text = '[{,"'.repeat(50_000);
  expect(parse(JSON.stringify(text))).toBe(text);
});
