import { expect, test } from 'vitest';
import { TookTooLong, withinMs } from '../../src/base/within-ms.js';

test('gives what the function gives, or throws what it throws', () => {
  expect(withinMs(1000, () => 6 * 7)).toBe(42);
  const thrown = new TypeError('mine');
  const work = () => {
    throw thrown;
  };
  expect(() => withinMs(1000, work)).toThrow(thrown);
});

function loop(): void {
  for (;;);
}

const match = () => /^(a+)+$/.test(`${'a'.repeat(80)}!`);

test.each([
  ['a loop', loop],
  ['a pattern that tries all ways', match],
])('%s without end is ended, and the next call works', (_what, work) => {
  expect(() => withinMs<unknown>(20, work)).toThrow(TookTooLong);
  expect(withinMs(1000, () => 'next')).toBe('next');
});
