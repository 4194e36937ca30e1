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
  // Nothing of the burst has ended.
  expect(order).toEqual(['many 0', 'one']);
  expect(queue.length).toBe(99);
  const third = queue.run('third', work('third'));
  open.shift()?.();
  await burst[0];
  open.shift()?.();
  await single;
  await Promise.resolve();
  expect(order).toEqual(['many 0', 'one', 'many 1', 'third']);
  while (open.length > 0) {
    open.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all([...burst, third]);
  expect(order).toHaveLength(102);
  expect(queue.length).toBe(0);
});

test('slow work of one tenant leaves the last slot to others', () => {
  const queue = new FairQueue(4);
  const order: string[] = [];
  const slow = (name: string) => {
    void queue.run(name, () => {
      order.push(name);
      return new Promise<void>(() => {});
    });
  };
  for (const name of ['many', 'many', 'many', 'many', 'one', 'two']) slow(name);
  expect(order).toEqual(['many', 'many', 'many', 'one']);
  expect(queue.length).toBe(2);
});

test('a queue of one runs the work of a tenant alone', async () => {
  const queue = new FairQueue(1);
  const order: number[] = [];
  await Promise.all([0, 1, 2].map((index) => queue.run('a', async () => void order.push(index))));
  expect(order).toEqual([0, 1, 2]);
});

test('work that fails gives its place on', async () => {
  const queue = new FairQueue(1);
  const failed = queue.run('a', () => Promise.reject(new Error('no')));
  const next = queue.run('a', () => Promise.resolve('yes'));
  await expect(failed).rejects.toThrow('no');
  await expect(next).resolves.toBe('yes');
});
