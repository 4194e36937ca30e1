/** Directories of kept cells go when nobody has opened them for long. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sweepKept } from '../../src/backends/sweep-kept.js';

test('those that are old go, others stay, and what cannot be read ends nothing', async () => {
  const all = mkdtempSync(join(tmpdir(), 'workcell-sweep-'));
  for (const name of ['old', 'new']) mkdirSync(join(all, name, 'layers'), { recursive: true });
  utimesSync(join(all, 'old'), 0, 0);
  await sweepKept(all);
  expect(readdirSync(all)).toEqual(['new']);
  rmSync(all, { recursive: true });
  await sweepKept(all);
});
