import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
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

test('what is copied is as on the machine: links, modes and contents', () => {
  const { path } = assembleEtc('none');
  const names = ['localtime', 'os-release', 'services', 'mime.types', 'maven', 'python3'].filter((name) =>
    existsSync(join('/etc', name)),
  );
  expect(names).toContain('os-release');
  const entries = names.flatMap((name) =>
    lstatSync(join('/etc', name)).isDirectory()
      ? [name, ...readdirSync(join('/etc', name), { recursive: true }).map((below) => join(name, `${below}`))]
      : [name],
  );
  for (const entry of entries)
    expect([entry, lookAt(join(path, entry))]).toEqual([entry, lookAt(join('/etc', entry))]);
});

function lookAt(path: string) {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return readlinkSync(path);
  return {
    mode: stats.mode,
    content: stats.isFile() ? readFileSync(path, 'utf8') : readdirSync(path).sort(),
  };
}
