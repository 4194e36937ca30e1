/** One control group for a cell, in the second version of the kernel's interface or the first. */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  write,
  writeFileSync,
} from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isAbandoned, ownedPrefix } from '../scratch.js';
import type { Limits } from './apply-limits.js';
import { forgetOomKills, readOomKills } from './oom-kills.js';
import { type ControlGroups, findControlGroups } from './places.js';

/** The relay and those that wait for programs, which the user's own limit does not count. */
const helperPids = 16;

/** The kernel may hold on to a group for a moment after its last process has gone. */
const removeMs = 2000;

/**
 * Moving a process makes the kernel wait some milliseconds for all processors; later moves pass at once. Moving a
 * nonexistent pid pays this RCU wait early, in parallel with the start.
 */
const noProcess = '2147483647';

/** How long after one move the next ones pass for certain. */
const passMs = 2;
let movedAt = Number.NEGATIVE_INFINITY;

export interface ControlGroup {
  readonly version: 1 | 2;
  readonly whole: readonly (keyof Limits)[];
  /**
   * Moves a process in. An ended process is no error. The kernel takes milliseconds for it, so this side does not
   * block.
   */
  enter(pid: number): Promise<void>;
  oomKills(): number;
  remove(): Promise<void>;
}

let places: ControlGroups | undefined | null = null;

/** Undefined when the limits need no group, or we can make none here. */
export function createControlGroup(limits: Limits): ControlGroup | undefined {
  if (places === null) {
    places = findControlGroups();
    if (places !== undefined) sweep(places);
  }
  return places === undefined ? undefined : createIn(places, limits);
}

export function createIn(groups: ControlGroups, limits: Limits): ControlGroup | undefined {
  const name = `${ownedPrefix()}${randomBytes(6).toString('hex')}`;
  const paths = new Set<string>();
  const whole: (keyof Limits)[] = [];
  for (const [limit, controller, settings] of settingsFor(groups.version, limits)) {
    const parent = groups.parents[controller];
    if (parent === undefined) continue;
    const path = join(parent, name);
    try {
      if (!paths.has(path)) mkdirSync(path);
      paths.add(path);
      for (const [file, value] of settings) writeFileSync(join(path, file), value);
      if (controller === 'memory') boundSwap(path, groups.version, limits);
      whole.push(limit);
    } catch {
      // Process limits enforce what a group cannot, and the report says so.
    }
  }
  const [first] = paths;
  if (first === undefined) return undefined;
  const noted =
    performance.now() - movedAt < passMs
      ? Promise.resolve()
      : writeLater(join(first, 'cgroup.procs'), noProcess).catch(() => {});
  const memory = groups.parents.memory && join(groups.parents.memory, name);
  const killed = memory && join(memory, groups.version === 2 ? 'memory.events' : 'memory.oom_control');
  return {
    version: groups.version,
    whole,
    async enter(pid) {
      await noted;
      movedAt = performance.now();
      await Promise.all([...paths].map((path) => writeLater(join(path, 'cgroup.procs'), String(pid)))).catch(
        (error: NodeJS.ErrnoException) => {
          if (error.code !== 'ESRCH') throw error;
        },
      );
    },
    oomKills: () => (killed === undefined ? 0 : (readOomKills(killed) ?? 0)),
    async remove() {
      await Promise.all([...paths].map(removeGroup));
      // Last, because an end that is still being looked at would open it again.
      if (killed !== undefined) forgetOomKills(killed);
    },
  };
}

/** Opens and closes at once; only the writing itself can take its time. */
function writeLater(path: string, text: string): Promise<void> {
  const file = openSync(path, 'w');
  return new Promise((resolve, reject) => {
    write(file, text, (error) => {
      closeSync(file);
      if (error === null) resolve();
      else reject(error);
    });
  });
}

type Setting = readonly [
  limit: keyof Limits,
  controller: 'memory' | 'pids' | 'cpu',
  [file: string, value: string][],
];

function settingsFor(version: 1 | 2, { memoryBytes, pids, cpus }: Limits): Setting[] {
  const settings: Setting[] = [];
  const periodUs = 100_000;
  if (memoryBytes !== undefined) {
    const bytes = String(memoryBytes);
    settings.push([
      'memoryBytes',
      'memory',
      version === 2 ? [['memory.max', bytes]] : [['memory.limit_in_bytes', bytes]],
    ]);
  }
  if (pids !== undefined) settings.push(['pids', 'pids', [['pids.max', String(pids + helperPids)]]]);
  if (cpus !== undefined) {
    const quota = String(Math.max(1000, Math.round(cpus * periodUs)));
    settings.push([
      'cpus',
      'cpu',
      version === 2
        ? [['cpu.max', `${quota} ${periodUs}`]]
        : [
            ['cpu.cfs_period_us', String(periodUs)],
            ['cpu.cfs_quota_us', quota],
          ],
    ]);
  }
  return settings;
}

/** The kernel does not count swapped memory as memory. */
function boundSwap(path: string, version: 1 | 2, { memoryBytes }: Limits): void {
  const [file, value] =
    version === 2 ? ['memory.swap.max', '0'] : ['memory.memsw.limit_in_bytes', String(memoryBytes)];
  try {
    writeFileSync(join(path, file), value);
  } catch {
    // A kernel without swap, or one that does not count it, has no such file.
  }
}

/** The kernel takes its time for this as well. */
async function removeGroup(path: string): Promise<void> {
  const deadline = performance.now() + removeMs;
  for (let pause = 1; ; pause *= 2) {
    try {
      await rmdir(path);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EBUSY' || performance.now() > deadline) return;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** Removes the groups of dead owners, with any processes in them. Nobody waits for it. */
function sweep({ parents }: ControlGroups): void {
  for (const parent of new Set(Object.values(parents))) {
    for (const name of readdirSync(parent).filter(isAbandoned)) {
      const path = join(parent, name);
      if (statSync(path, { throwIfNoEntry: false })?.uid !== process.geteuid?.()) continue;
      killMembers(path);
      void removeGroup(path);
    }
  }
}

function killMembers(path: string): void {
  try {
    const members = readFileSync(join(path, 'cgroup.procs'), 'latin1').split('\n').map(Number);
    // Zero means a process that we cannot see; as a pid it would mean our own group.
    for (const pid of members.filter((member) => member > 0)) process.kill(pid, 'SIGKILL');
  } catch {
    // Gone in the meantime.
  }
}
