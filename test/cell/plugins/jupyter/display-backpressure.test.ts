import { expect, test } from 'vitest';
import { DisplayBackpressure } from '../../../../src/cell/plugins/jupyter/display-backpressure.js';

test('a kernel that shows nothing, over and over, is held back like one that shows much', async () => {
  let paused = false;
  const seen: string[] = [];
  let release = () => {};
  const busy = new Promise<void>((resolve) => {
    release = resolve;
  });
  const pace = new DisplayBackpressure(
    async ({ type }) => {
      seen.push(type);
      await busy;
    },
    {
      pause: () => {
        paused = true;
      },
      resume: () => {
        paused = false;
      },
    },
  );
  let shown = 0;
  while (!paused && shown < 1_000_000) {
    pace.show({ kind: 'display', data: {}, update: false });
    shown++;
  }
  expect(shown).toBeLessThan(10_000);
  release();
  await pace.drained();
  expect([paused, seen.length]).toEqual([false, shown]);
});
