import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { CellProcesses } from '../../../../src/cell/launchers/bubblewrap/cell-processes.js';
import type { RunningCell } from '../../../../src/cell/launchers/bubblewrap/running-cell.js';

/** A kernel gives a number again only after millions of processes, so the process file system is one of the test's own. */
const proc = mkdtempSync(join(tmpdir(), 'processes-test-'));

afterEach(() => rmSync(proc, { recursive: true, force: true }));

function setProcess(pid: number, startTicks: number): void {
  mkdirSync(join(proc, String(pid)), { recursive: true });
  const fields = ['S', 1, pid, pid, 0, -1, ...new Array(13).fill(0), startTicks, 0, 0];
  writeFileSync(join(proc, String(pid), 'stat'), `${pid} (program) ${fields.join(' ')}\n`);
}

test('a program that gets the number of a helper which it killed is listed, and is not that helper', () => {
  const processes = new CellProcesses({
    hostPid: 0,
    exited: new Promise(() => {}),
  } as unknown as RunningCell);
  const listed = () => processes.list().map(({ pid }) => pid);
  setProcess(2, 100);
  const early = processes.addHelper(2);
  processes.open(proc);
  setProcess(400, 200);
  const helper = processes.addHelper(400);
  setProcess(401, 201);
  expect(listed()).toEqual([401]);
  expect([early.isAlive(), helper.isAlive()]).toEqual([true, true]);

  setProcess(2, 900);
  setProcess(400, 901);
  expect(listed()).toEqual([2, 400, 401]);
  expect([early.isAlive(), helper.isAlive()]).toEqual([false, false]);
});
