import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { cachedFiles, freeMemory } from '../../src/service/free-memory.js';

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

/** The files of a machine, by their paths. */
function machine(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'free-memory-'));
  roots.push(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

test('files that a control group caches count as free, in both versions and inside a container', () => {
  const version2 = { 'proc/self/cgroup': '0::/system.slice/cells.service\n' };
  const own = 'sys/fs/cgroup/system.slice/cells.service/memory.stat';
  const first = 'sys/fs/cgroup/memory.stat';
  expect(
    cachedFiles(machine({ ...version2, [own]: 'anon 1\ninactive_file 42\n', [first]: 'inactive_file 7\n' })),
  ).toBe(42);
  expect(cachedFiles(machine({ ...version2, [first]: 'anon 1\ninactive_file 7\n' }))).toBe(7);
  const version1 = { 'proc/self/cgroup': '5:cpu:/\n4:memory:/cells\n0::/\n' };
  expect(
    cachedFiles(
      machine({
        ...version1,
        'sys/fs/cgroup/memory/cells/memory.stat': 'inactive_file 1\ntotal_inactive_file 9\n',
      }),
    ),
  ).toBe(9);
  expect(cachedFiles(machine({}))).toBe(0);
});

test('this machine has some of its memory free', () => {
  expect(freeMemory()).toBeGreaterThan(0);
  expect(freeMemory()).toBeLessThanOrEqual(totalmem());
});
