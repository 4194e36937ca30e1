/** The short version of `npm run soak`: sandboxes come and go, and leave nothing behind. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { soakCycles } from '../../scripts/soak/cycles.js';
import { soakKills } from '../../scripts/soak/kills.js';
import { leftovers } from '../../scripts/soak/report.js';

const directory = mkdtempSync(join(tmpdir(), 'sandbox-soak-'));
const usual = process.env.TMPDIR;

beforeAll(() => {
  process.env.TMPDIR = directory;
});

afterAll(() => {
  if (usual === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = usual;
  rmSync(directory, { recursive: true, force: true });
});

test('100 sandboxes leave nothing behind', { timeout: 180_000 }, async () => {
  expect(leftovers(await soakCycles({ directory, cycles: 100 }))).toEqual([]);
});

test('owners killed at a random moment leave nothing after the next start', {
  timeout: 180_000,
}, async () => {
  expect(leftovers(await soakKills({ directory, kills: 10 }))).toEqual([]);
});
