import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { hostProgram } from '../../base/find-program.js';
import type { CellProcess } from './launcher.js';

const ticksPerSecond = 100;
const pageBytes = 4096;

/** All processes of this machine that are visible, without those that are dead and only not yet collected. */
export function readProcessTable(): CellProcess[] {
  if (!existsSync('/proc/self/stat')) return parsePs(runPs());
  return listPids()
    .map((pid) => readProcess(pid))
    .filter((entry) => entry !== undefined);
}

/** Reads one line of `/proc/<pid>/stat`; undefined when the process has ended. */
export function readProcess(pid: number, proc = '/proc'): CellProcess | undefined {
  let line: string;
  try {
    line = readFileSync(`${proc}/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // The name is in parentheses and may contain any character, so count fields behind the last one.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const number = (index: number) => Number(fields[index]);
  // A process whose first thread has ended looks dead while its other threads run.
  const dead = fields[0] === 'X' || (fields[0] === 'Z' && number(17) <= 1);
  if (dead) return undefined;
  return {
    pid,
    parentPid: number(1),
    groupId: number(2),
    sessionId: number(3),
    foregroundGroupId: number(5),
    startTicks: number(19),
    cpuMs: ((number(11) + number(12)) * 1000) / ticksPerSecond,
    memoryBytes: number(21) * pageBytes,
  };
}

/** Ids of all processes that are visible in a proc file system. */
export function listPids(proc = '/proc'): number[] {
  return readdirSync(proc)
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Reads the output of `ps -axo pid=,ppid=,pgid=,stat=,rss=`, where there is no proc file system. */
export function parsePs(table: string): CellProcess[] {
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields.length >= 5 && !fields[3]?.startsWith('Z'))
    .map(([pid, parentPid, groupId, , kibibytes]) => ({
      pid: Number(pid),
      parentPid: Number(parentPid),
      groupId: Number(groupId),
      sessionId: Number(groupId),
      foregroundGroupId: -1,
      startTicks: 0,
      cpuMs: 0,
      memoryBytes: Number(kibibytes) * 1024,
    }));
}

/** All processes that descend from one of the roots, the roots first; a root itself may have ended already. */
export function withDescendants(processes: readonly CellProcess[], roots: Iterable<number>): CellProcess[] {
  const children = new Map<number, CellProcess[]>();
  const byPid = new Map<number, CellProcess>();
  for (const entry of processes) {
    byPid.set(entry.pid, entry);
    const siblings = children.get(entry.parentPid);
    if (siblings === undefined) children.set(entry.parentPid, [entry]);
    else siblings.push(entry);
  }
  const seen = new Set<number>(roots);
  const found: CellProcess[] = [];
  // A set iterates in the order of insertion, including members added on the way.
  for (const pid of seen) {
    const entry = byPid.get(pid);
    if (entry !== undefined) found.push(entry);
    for (const child of children.get(pid) ?? []) seen.add(child.pid);
  }
  return found;
}

function runPs(): string {
  try {
    return execFileSync(hostProgram('ps'), ['-axo', 'pid=,ppid=,pgid=,stat=,rss='], { encoding: 'utf8' });
  } catch {
    return '';
  }
}

/** Whether there is a process with this id, where no proc file system tells which one it is. */
export function canSignal(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
