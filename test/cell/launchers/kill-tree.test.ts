import { expect, test } from 'vitest';
import { killTree } from '../../../src/cell/launchers/kill-tree.js';
import type { CellProcess } from '../../../src/cell/launchers/launcher.js';

test('a chain that forks faster than it is killed is halted, and the others go on', async () => {
  const chain = new Chain();
  await killTree(chain, [1000], 'SIGKILL');
  expect(chain.processes()).toEqual([]);
  expect(chain.holds.slice(0, 2)).toEqual(['halted', 'resumed']);
});

test('what ends when it is killed holds nobody up', async () => {
  const chain = new Chain();
  chain.isHeld = true;
  await killTree(chain, [1000], 'SIGKILL');
  expect(chain.processes()).toEqual([]);
  expect(chain.holds).toEqual([]);
});

test('what ends before it can be looked at is no proof that nothing is left', async () => {
  const chain = new Chain();
  chain.isTooFast = true;
  await killTree(chain, [1000], 'SIGKILL');
  chain.isTooFast = false;
  expect(chain.processes()).toEqual([]);
});

/** A process of a cell that has left a child behind whenever it is killed, unless nothing can be started. */
class Chain {
  isHeld = false;
  /** Nothing of it shows in a list of what runs. */
  isTooFast = false;
  readonly holds: string[] = [];
  #pid: number | undefined = 1000;

  processes(onGone?: (pid: number) => void): CellProcess[] {
    if (this.#pid === undefined) return [];
    if (this.isTooFast && !this.isHeld) {
      onGone?.(this.#pid++);
      return [];
    }
    const leader = { parentPid: 1, groupId: 1000, sessionId: 1000, foregroundGroupId: -1 };
    return [{ pid: this.#pid, ...leader, startTicks: this.#pid, cpuMs: 0, memoryBytes: 0 }];
  }

  signal(pids: readonly number[]): void {
    if (this.#pid === undefined || !pids.includes(this.#pid)) return;
    this.#pid = this.isHeld ? undefined : this.#pid + 1;
  }

  async whileHalted<T>(work: () => T): Promise<T> {
    this.isHeld = true;
    this.holds.push('halted');
    const result = work();
    this.isHeld = false;
    this.holds.push('resumed');
    return result;
  }
}
