import { ForkHold } from './fork-hold.js';
import type { CellProcess, Launcher } from './launcher.js';
import { withDescendants } from './process-table.js';

/** A killed process is gone within this time unless the kernel itself is stuck in it. */
const vanishMs = 5000;

/**
 * Sends a signal to the processes with the given ids, the members of the groups and sessions they lead, and all their
 * descendants. Repeats SIGKILL until none of them is left; sends any other signal once, because what a process starts
 * in answer to it is its own business.
 */
export async function killTree(
  launcher: Pick<Launcher, 'processes' | 'signal' | 'holdForks'>,
  roots: readonly number[],
  signal: NodeJS.Signals,
): Promise<void> {
  let tree = findTree(launcher.processes(), roots);
  launcher.signal(pidsOf(tree), signal);
  if (signal !== 'SIGKILL') return;
  const deadline = performance.now() + vanishMs;
  const doomed = new Map(tree.map((entry) => [entry.pid, entry.startTicks]));
  const forks = new ForkHold(launcher);
  try {
    while (tree.length > 0 && performance.now() < deadline) {
      await new Promise((resolve) => setImmediate(resolve));
      const all = launcher.processes();
      // What lost its parent to the kill is still found: by its own id, or below another found one.
      const alive = all.filter((entry) => doomed.get(entry.pid) === entry.startTicks);
      tree = findTree(all, [...roots, ...pidsOf(alive)]);
      const fresh = tree.filter((entry) => doomed.get(entry.pid) !== entry.startTicks);
      if (fresh.length > 0) forks.foundMore();
      for (const entry of fresh) doomed.set(entry.pid, entry.startTicks);
      launcher.signal(pidsOf(fresh), signal);
    }
  } finally {
    forks.release();
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
