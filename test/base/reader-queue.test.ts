import { expect, test } from 'vitest';
import { ReaderQueue } from '../../src/base/reader-queue.js';

test('a program that prints one byte at a time is held back soon, and read at once', async () => {
  let paused = 0;
  let resumed = 0;
  const queue = new ReaderQueue({ pause: () => paused++, resume: () => resumed++ });
  let pushed = 0;
  while (queue.held === undefined && pushed < 1_000_000) {
    queue.push(Buffer.from('x'));
    pushed++;
  }
  expect(pushed).toBeLessThan(10_000);
  queue.end();
  const chunks: Uint8Array[] = [];
  for await (const chunk of queue) chunks.push(chunk);
  expect(chunks.map(({ length }) => length)).toEqual([pushed]);
  expect([paused, resumed]).toEqual([1, 1]);
});
