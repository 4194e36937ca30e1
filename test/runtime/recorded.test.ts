/** What the record keeps of values that a cell or a caller made. */
import { expect, test } from 'vitest';
import { recorded } from '../../src/runtime/recorded.js';

function nested(levels: number): object {
  let value: object = {};
  for (let level = 1; level < levels; level++) value = level % 2 === 0 ? { inner: value } : [value];
  return value;
}

test('a value of usual depth is kept as it is', () => {
  const value = nested(100);
  expect(recorded(value)).toBe(value);
});

test.each([101, 20_000])('of %i levels the first hundred are kept', async (levels) => {
  const text = JSON.stringify(await recorded({ beside: 'all of it', deep: nested(levels) }));
  expect(text.match(/[[{]/g)).toHaveLength(100);
  expect(text).toContain('"…"');
  expect(text).toContain('all of it');
});
