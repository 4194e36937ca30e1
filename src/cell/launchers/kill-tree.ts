import type { CellProcess, Launcher } from './launcher.js';
import { withDescendants } from './process-table.js';

/** A killed process ends within this time unless the kernel itself is stuck in it. */
const vanishMs = 5000;

/** How long a cell whose processes take all processors may take to halt. */
const haltMs = 2000;

/** So many rounds in a row must find more before the cell halts: in one, any process of the cell may just have ended. */
const growingRounds = 3;

type Place = Pick<Launcher, 'processes' | 'signal' | 'killGroups' | 'whileHalted'>;

/**
 * Sends a signal to the processes with the given ids, the members of the groups and sessions they lead, and all their
 * descendants. Repeats SIGKILL until none of them remains. Sends any other signal once, because a process may start
 * others in answer to it.
 */
export async function killTree(
  launcher: Place,
  roots: readonly number[],
  signal: NodeJS.Signals,
): Promise<void> {
  if (signal === 'SIGKILL')
    await killAll(launcher, (processes) => findTree(processes, roots), { groups: roots });
  else launcher.signal(pidsOf(findTree(launcher.processes(), roots)), signal);
}

/**
 * Kills what `select` finds, with all descendants, until it finds nothing or the time is up. The first kill happens
 * at once. `groups`: those that they lead, which may have members that no list shows.
 *
 * A chain of processes that fork and end can be faster than rounds of listing and killing, for ever, and can be
 * missing from every list. A chain that stays in a group ends with the group, where the launcher can kill
 * that. And when some rounds in a row find more, or a process that ended before we could look at it, halt
 * the cell for the next one, if the launcher can. Do not halt it earlier: other processes in the cell would wait for it.
 */
export async function killAll(
  launcher: Place,
  select: (processes: readonly CellProcess[]) => readonly CellProcess[],
  { withinMs = vanishMs, groups = [] }: { withinMs?: number; groups?: readonly number[] } = {},
): Promise<void> {
  const deadline = performance.now() + withinMs;
  const doomed = new Map<number, number>();
  const isDoomed = (entry: CellProcess) => doomed.get(entry.pid) === entry.startTicks;
  let left = 0;
  let isGrowing = false;
  let growth = 0;

  function round(isHalted = false): void {
    isGrowing = false;
    const all = launcher.processes((pid) => {
      if (!isHalted && !doomed.has(pid)) isGrowing = true;
    });
    // We still find a process that lost its parent to the kill: by its own id, or below another found one.
    const tree = withDescendants(all, pidsOf([...select(all), ...all.filter(isDoomed)]));
    const fresh = tree.filter((entry) => !isDoomed(entry));
    if (doomed.size > 0 && fresh.length > 0) isGrowing = true;
    for (const entry of fresh) doomed.set(entry.pid, entry.startTicks);
    launcher.killGroups?.(new Set([...groups, ...wholeGroups(all, tree)]));
    launcher.signal(pidsOf(fresh), 'SIGKILL');
    left = tree.length;
    growth = isGrowing ? growth + 1 : 0;
  }

  round();
  while ((left > 0 || isGrowing) && performance.now() < deadline) {
    if (growth >= growingRounds && launcher.whileHalted !== undefined) {
      await bounded((isLate) => launcher.whileHalted?.(() => isLate() || round(true)));
    } else {
      await new Promise((resolve) => setImmediate(resolve));
      round();
    }
  }
}

/** The groups with nobody else in them. */
function wholeGroups(all: readonly CellProcess[], tree: readonly CellProcess[]): number[] {
  const ours = new Set(pidsOf(tree));
  const shared = new Set(all.filter(({ pid }) => !ours.has(pid)).map(({ groupId }) => groupId));
  return [...new Set(tree.map(({ groupId }) => groupId))].filter((id) => !shared.has(id));
}

/** A halt that comes too late must not kill processes that started since. */
async function bounded(halt: (isLate: () => boolean) => Promise<unknown> | undefined): Promise<void> {
  let isLate = false;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      isLate = true;
      resolve();
    }, haltMs);
  });
  try {
    // A cell that has ended has nothing left to kill.
    await Promise.race([halt(() => isLate)?.catch(() => {}), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Parents come before their children, so that none of them lives to see a child die. */
function findTree(processes: readonly CellProcess[], roots: readonly number[]): CellProcess[] {
  const wanted = new Set(roots);
  const members = processes.filter((entry) => wanted.has(entry.groupId) || wanted.has(entry.sessionId));
  return withDescendants(processes, [...roots, ...pidsOf(members)]);
}

function pidsOf(processes: readonly CellProcess[]): number[] {
  return processes.map((entry) => entry.pid);
}
