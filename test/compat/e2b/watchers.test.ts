import { expect, test } from 'vitest';
import { Watchers } from '../../../src/compat/e2b/envd/watchers.js';
import type { Executor } from '../../../src/protocol/index.js';

test('what the watchers of a sandbox keep is bounded for all of them together', async () => {
  const change = { type: 'file-change', change: 'created', path: '/home/file' } as const;
  const heard: ((progress: unknown) => unknown)[] = [];
  const executor = {
    execute: (_action: unknown, { onProgress }: { onProgress: (progress: unknown) => unknown }) => {
      heard.push(onProgress);
      void onProgress({ type: 'ready' });
      return new Promise(() => {});
    },
  } as unknown as Executor;
  const watchers = new Watchers();
  const create = () => watchers.create(executor, '/home', false, async ({ name }) => ({ name }));
  const [first, second] = [await create(), await create()];
  const happen = async () => {
    for (const hear of heard) for (let times = 0; times < 6000; times++) await hear(change);
  };
  await happen();
  expect([watchers.take(first).length, watchers.take(second).length]).toEqual([6000, 4000]);
  await happen();
  watchers.remove(first);
  await heard[1]?.(change);
  expect(watchers.take(second)).toHaveLength(4001);
  watchers.close();
});
