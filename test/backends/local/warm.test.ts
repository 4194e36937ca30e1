/** Servers that start ahead of demand, where that is not possible. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { removeHome } from '../../../src/backends/local/local-home.js';
import { takeServer } from '../../../src/backends/local/warm.js';

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
