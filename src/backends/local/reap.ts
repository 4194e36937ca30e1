/** Ends what a killed server left behind: its commands carry a mark in their environment. */
import { readFileSync } from 'node:fs';
import { listPids } from '../../cell/launchers/process-table.js';

/** Each process of a cell carries this variable with the id of the cell. */
export const markVariable = 'WORKCELL_LOCAL';

const patienceMs = 5000;

/** A process may start another between the look and the kill, so repeat until nothing remains. */
export async function reap(id: string): Promise<void> {
  const mark = `${markVariable}=${id}\0`;
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const found = marked(mark);
    if (found.length === 0 || performance.now() > deadline) return;
    for (const pid of found) kill(pid);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function marked(mark: string): number[] {
  try {
    return listPids().filter((pid) => pid !== process.pid && hasMark(pid, mark));
  } catch {
    // Without a proc file system the hang-up of their terminals has to suffice.
    return [];
  }
}

function hasMark(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark);
  } catch {
    return false;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has already ended, or changed its user.
  }
}
