/** Servers that start ahead of demand. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { removeHome } from '../../../src/backends/local/local-home.js';
import { takeServer } from '../../../src/backends/local/warm.js';

test('the next cell takes the server that waits, which has a directory of its own', async () => {
  const place = mkdtempSync(join(tmpdir(), 'workcell-warm-'));
  vi.stubEnv('TMPDIR', place);
  const first = takeServer(1);
  const homes = () => readdirSync(dirname(first.home.path)).filter((name) => !name.startsWith('.')).length;
  expect(homes()).toBe(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(homes()).toBe(2);
  const second = takeServer(0);
  expect(homes()).toBe(2);
  const third = takeServer(0);
  expect(homes()).toBe(3);
  expect(new Set([first, second, third].map(({ home }) => home.path)).size).toBe(3);
  vi.unstubAllEnvs();
  for (const { home, process: server } of [first, second, third]) {
    await server.end();
    await removeHome(home);
  }
  rmSync(place, { recursive: true });
});

test('a server that cannot start ahead is no failure of the cell before, nor of its program', async () => {
  const place = mkdtempSync(join(tmpdir(), 'workcell-warm-'));
  vi.stubEnv('TMPDIR', place);
  const { home, process: server } = takeServer(1);
  // No directory can be made for the next one.
  rmSync(place, { recursive: true });
  await new Promise((resolve) => setImmediate(resolve));
  expect(() => takeServer(0)).toThrow(/ENOENT/);
  vi.unstubAllEnvs();
  expect(server.pid).toBeGreaterThan(0);
  await server.end();
  await removeHome(home);
});
