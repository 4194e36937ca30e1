import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createIn } from '../../../../src/cell/launchers/limits/control-group.js';
import { findControlGroups } from '../../../../src/cell/launchers/limits/places.js';
import { processLimits } from '../../../../src/cell/launchers/limits/process-limits.js';
import { parseList, processorList } from '../../../../src/cell/launchers/limits/processors.js';

const root = mkdtempSync(join(tmpdir(), 'cgroup-'));
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A directory with files in it, as the kernel would show a group. */
function group(path: string, files: Record<string, string> = {}): string {
  const whole = join(root, path);
  mkdirSync(whole, { recursive: true });
  for (const [name, text] of Object.entries({ 'cgroup.procs': '', ...files }))
    writeFileSync(join(whole, name), text);
  return whole;
}

test('in the first version each controller has its own place', () => {
  const memory = group('memory/own');
  const pids = group('pids');
  const mounts = [
    `30 25 0:26 / ${root}/memory rw - cgroup cgroup rw,memory`,
    `31 25 0:27 / ${root}/pids rw - cgroup cgroup rw,pids`,
  ].join('\n');
  const found = findControlGroups(mounts, '4:memory:/own\n8:pids:/\n0::/\n');
  expect(found).toEqual({ version: 1, parents: { memory, pids } });
});

test('in the second version the parent is the nearest group that hands controllers on', () => {
  const handing = {
    'cgroup.controllers': 'cpu memory pids\n',
    'cgroup.subtree_control': 'cpu memory pids\n',
  };
  group('', { 'cgroup.controllers': 'cpu memory pids\n', 'cgroup.subtree_control': 'cpu memory pids\n' });
  const parent = group('user.slice/app.slice', handing);
  group('user.slice/app.slice/own.scope', { 'cgroup.controllers': '', 'cgroup.subtree_control': '' });
  const mounts = `30 25 0:26 / ${root} rw - cgroup2 cgroup2 rw`;
  const found = findControlGroups(mounts, '0::/user.slice/app.slice/own.scope\n');
  expect(found).toEqual({ version: 2, parents: { cpu: parent, memory: parent, pids: parent } });
});

test('without a place that can be written there are none', () => {
  expect(findControlGroups('', '')).toBeUndefined();
  expect(findControlGroups('30 25 0:26 / /nowhere rw - cgroup2 cgroup2 rw', '0::/\n')).toBeUndefined();
});

test('limits are written in the words of the second version, and killings are counted', () => {
  const parent = group('parent');
  const made = createIn(
    { version: 2, parents: { memory: parent, pids: parent, cpu: parent } },
    { memoryBytes: 1 << 28, pids: 100, cpus: 0.5 },
  );
  const path = join(parent, madeIn(parent));
  const read = (name: string) => readFileSync(join(path, name), 'utf8');
  expect(made?.whole).toEqual(['memoryBytes', 'pids', 'cpus']);
  expect([read('memory.max'), read('cpu.max')]).toEqual([String(1 << 28), '50000 100000']);
  // Swapped memory would be memory beyond the limit.
  expect(read('memory.swap.max')).toBe('0');
  expect(made?.oomKills()).toBe(0);
  writeFileSync(join(path, 'memory.events'), 'low 0\noom 3\noom_kill 2\n');
  expect(made?.oomKills()).toBe(2);
});

test('the watch kills the largest process when their sum is too much', async () => {
  const killed: number[] = [];
  const processes = {
    list: () =>
      [1, 2, 3].filter((pid) => !killed.includes(pid)).map((pid) => ({ pid, memoryBytes: pid * 100 })),
    proportionalBytes: (pid: number) => pid * 100,
    signal: (pids: readonly number[]) => killed.push(...pids),
  };
  const limits = processLimits({ memoryBytes: 350, pids: 10 }, []);
  limits.watch(processes);
  await expect.poll(() => killed).toEqual([3]);
  limits.stop();
  expect(limits.oomKills()).toBe(1);
  expect(limits.setup.join(';')).toContain('ulimit -u 10');
  expect(processLimits({ memoryBytes: 350, pids: 10 }, ['memoryBytes', 'pids']).setup).toEqual([]);
});

test('processors are named as the kernel lists them', () => {
  expect(parseList('0-2,5')).toEqual([0, 1, 2, 5]);
  expect(processorList(1)).toMatch(/^\d+$/);
});

function madeIn(path: string): string {
  const [name = ''] = readdirSync(path).filter((entry) => entry.startsWith('workcell-'));
  return name;
}
