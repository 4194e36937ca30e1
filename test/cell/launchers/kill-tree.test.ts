import { expect, test } from 'vitest';
import { killTree } from '../../../src/cell/launchers/kill-tree.js';
import type { CellProcess } from '../../../src/cell/launchers/launcher.js';

test('a chain that forks faster than it is killed is kept from forking, and others may fork again', async () => {
  const chain = new Chain();
  await killTree(chain, [1000], 'SIGKILL');
  expect(chain.processes()).toEqual([]);
  expect(chain.holds).toEqual(['held', 'released']);
});

test('what ends when it is killed holds nobody up', async () => {
  const chain = new Chain();
  chain.isHeld = true;
  await killTree(chain, [1000], 'SIGKILL');
  expect(chain.processes()).toEqual([]);
  expect(chain.holds).toEqual([]);
});

/** A process of a cell that has left a child behind whenever it is killed, unless nothing can be started. */
class Chain {
  isHeld = false;
  readonly holds: string[] = [];
  #pid: number | undefined = 1000;

  processes(): CellProcess[] {
    if (this.#pid === undefined) return [];
    const leader = { parentPid: 1, groupId: 1000, sessionId: 1000, foregroundGroupId: -1 };
    return [{ pid: this.#pid, ...leader, startTicks: this.#pid, cpuMs: 0, memoryBytes: 0 }];
  }

  signal(pids: readonly number[]): void {
    if (this.#pid === undefined || !pids.includes(this.#pid)) return;
    this.#pid = this.isHeld ? undefined : this.#pid + 1;
  }

  holdForks(): () => void {
    this.isHeld = true;
    this.holds.push('held');
    return () => {
      this.isHeld = false;
      this.holds.push('released');
    };
  }
}
