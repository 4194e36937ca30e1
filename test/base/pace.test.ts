import { expect, test } from 'vitest';
import { paced } from '../../src/base/pace.js';

async function* numbers(count: number): AsyncGenerator<number> {
  for (let number = 0; number < count; number++) yield number;
}

test('pieces that are all there leave others their turn', async () => {
  let turns = 0;
  const count = () => {
    turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  let sum = 0;
  for await (const number of paced(numbers(200_000))) sum += number;
  clearImmediate(next);
  expect(sum).toBe((200_000 * 199_999) / 2);
  expect(turns).toBeGreaterThan(0);
});
