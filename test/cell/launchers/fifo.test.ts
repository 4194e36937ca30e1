import { lstatSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFifo } from '../../../src/cell/launchers/fifo.js';
import { makeFleeting } from '../../../src/cell/launchers/scratch.js';

test('a directory for pipes that cannot be made fails its caller, and the next one tries again', async () => {
  const directory = makeFleeting('test');
  const parent = dirname(directory);
  const path = join(directory, 'pipe');
  renameSync(parent, `${parent}-away`);
  try {
    await expect(makeFifo(path)).rejects.toThrow('Shells need');
  } finally {
    renameSync(`${parent}-away`, parent);
  }
  await makeFifo(path);
  expect(lstatSync(path).isFIFO()).toBe(true);
});
