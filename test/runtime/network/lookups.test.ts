/** Lookups of one cell do not hold up those of others. */
import { expect, test } from 'vitest';
import { ipv4 } from '../../../src/protocol/network/address.js';
import { Lookups } from '../../../src/runtime/network/lookups.js';

const found = [ipv4([192, 0, 2, 1])];

test('a cell whose lookups never end has one of them at a time, and others go on', async () => {
  const asked: string[] = [];
  const ends: (() => void)[] = [];
  const hostile = new Lookups((name) => {
    asked.push(name);
    return new Promise((resolve) => ends.push(() => resolve(found)));
  });
  const names = Array.from({ length: 300 }, (_, index) => `n${index}.test`);
  const waiting = names.map((name) => hostile.find(name).catch((error: Error) => error.message));
  const other = new Lookups(async () => found);
  expect(await other.find('a.test')).toEqual(found);
  expect(await other.find('b.test')).toEqual(found);
  expect(asked).toEqual(['n0.test']);
  // Those beyond its share fail at once.
  expect(await waiting[299]).toContain('256 names');
  while (asked.length < 257) {
    ends.shift()?.();
    await new Promise(setImmediate);
  }
  for (const end of ends) end();
  expect(await waiting[256]).toEqual(found);
});

test('what was found is remembered, what was not is asked for again', async () => {
  let count = 0;
  const lookups = new Lookups(async (name) => {
    count++;
    if (name === 'broken.test') throw new Error('no server');
    return name === 'none.test' ? [] : found;
  });
  for (let index = 0; index < 3; index++) {
    await lookups.find('a.test');
    await lookups.find('none.test');
    await expect(lookups.find('broken.test')).rejects.toThrow('no server');
  }
  expect(count).toBe(7);
});
