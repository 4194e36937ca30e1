import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { assembleEtc } from '../../../../src/cell/launchers/bubblewrap/etc.js';
import { isMemory } from '../../../../src/cell/launchers/scratch.js';
import { complete, startLauncher } from './start.js';

test('after many cells copies stand in for the mounts, and show the same', async (context) => {
  const first = assembleEtc('none');
  if (!isMemory(first.path)) return context.skip('there is no memory file system for copies; mount /dev/shm');
  await expect.poll(() => assembleEtc('none').shared.length).toBe(0);
  const { path } = assembleEtc('none');
  expect(lstatSync(path).mode & 0o777).toBe(0o755);
  for (const shared of first.shared)
    expect(readdirSync(join(path, shared.slice('/etc'.length)))).toEqual(readdirSync(shared));
  expect(readFileSync(join(path, 'passwd'), 'utf8')).toContain('agent:x:1000');
  await using launcher = await startLauncher();
  const listing = await complete(
    launcher,
    'ls /etc/alternatives | wc -l; id -un; touch /etc/x || echo refused',
  );
  expect(listing.stdout).toMatch(/^\d+\nagent\nrefused\n$/);
});
