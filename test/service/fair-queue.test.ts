import { expect, test } from 'vitest';
import { FairQueue } from '../../src/service/fair-queue.js';

test('a burst of one tenant does not delay the single piece of another', async () => {
  const queue = new FairQueue(2);
  const order: string[] = [];
  const open: (() => void)[] = [];
  const work = (name: string) => () => {
    order.push(name);
    return new Promise<void>((resolve) => open.push(resolve));
  };
  const burst = Array.from({ length: 100 }, (_, index) => queue.run('many', work(`many ${index}`)));
  const single = queue.run('one', work('one'));
  expect(order).toEqual(['many 0', 'many 1']);
  expect(queue.length).toBe(99);
  open.shift()?.();
  await burst[0];
  open.shift()?.();
  await burst[1];
  await Promise.resolve();
  expect(order).toContain('one');
  while (open.length > 0) {
    open.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all([...burst, single]);
  expect(order).toHaveLength(101);
  expect(queue.length).toBe(0);
});

test('work that fails gives its place on', async () => {
  const queue = new FairQueue(1);
  const failed = queue.run('a', () => Promise.reject(new Error('no')));
  const next = queue.run('a', () => Promise.resolve('yes'));
  await expect(failed).rejects.toThrow('no');
  await expect(next).resolves.toBe('yes');
});
