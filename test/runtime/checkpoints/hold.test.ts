import { expect, it } from 'vitest';
import { createRuntime } from '../../../src/index.js';
import type { Cell } from '../../../src/protocol/index.js';
import { holdable } from '../../../src/runtime/checkpoints/hold.js';

it('holds a cell that somebody pauses or resumes at the same time', async () => {
  let isRunning = true;
  const cell = {
    executor: {},
    pause: async () => {
      await null;
      isRunning = false;
    },
    resume: async () => {
      await null;
      isRunning = true;
    },
  } as unknown as Cell;
  const held = holdable(cell);
  const seen: boolean[] = [];
  const look = () =>
    held.hold(async () => {
      seen.push(isRunning);
      await new Promise(setImmediate);
      seen.push(isRunning);
    });
  await held.cell.pause?.();
  await Promise.all([held.cell.resume?.(), look()]);
  expect(isRunning).toBe(true);
  await Promise.all([look(), held.cell.pause?.(), look()]);
  expect(seen).toEqual([false, false, false, false, false, false]);
  expect(isRunning).toBe(false);
});

it('refuses while a command runs on that outlived its call, where nothing can pause it', async () => {
  await using runtime = await createRuntime({
    config: false,
    backend: 'cli',
    workspace: { mode: 'empty' },
    plugins: [],
    tools: [],
  });
  await runtime.run('read line', { handBackMs: 1 });
  await expect(runtime.checkpoint()).rejects.toMatchObject({ code: 'session-busy' });
  await runtime.run('x\n', { input: true });
  await expect
    .poll(() =>
      runtime.checkpoint().then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
});
