/**
 * Who works in a cell that is kept alive: one process at a time, so that there is one policy and one record of what
 * happens in it. A file in the directory of the cell has the name of that process and stops counting when it is gone.
 */
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canSignal } from '../cell/launchers/process-table.js';
import { isAbandoned, ownedPrefix } from '../cell/launchers/scratch.js';
import { WorkcellError } from '../protocol/index.js';

const prefix = 'held-';

/** Throws `cell-in-use` while another process, or another runtime of this one, has it. */
export function claimCell(id: string, home: string): void {
  const own = `${prefix}${ownedPrefix()}`;
  try {
    writeFileSync(join(home, own), '', { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw inUse(id, process.pid);
    throw error;
  }
  // Each writes first and looks then, so of two that come at once at most one gets it.
  for (const claim of claimsOf(home).filter((name) => name !== own)) {
    if (isStale(claim)) rmSync(join(home, claim), { force: true });
    else {
      releaseCell(home);
      throw inUse(id, holder(claim));
    }
  }
}

export function releaseCell(home: string): void {
  rmSync(join(home, `${prefix}${ownedPrefix()}`), { force: true });
}

/** The process that has it. */
export function holderOf(home: string): number | undefined {
  const claim = claimsOf(home).find((name) => !isStale(name));
  return claim === undefined ? undefined : holder(claim);
}

function claimsOf(home: string): string[] {
  try {
    return readdirSync(home).filter((name) => name.startsWith(prefix));
  } catch {
    return [];
  }
}

function isStale(claim: string): boolean {
  // Without a proc file system there is only the id to go by.
  return isAbandoned(claim.slice(prefix.length)) || (!existsSync('/proc/self') && !canSignal(holder(claim)));
}

function holder(claim: string): number {
  return Number(/^held-workcell-\d+-\d+-(\d+)-/.exec(claim)?.[1] ?? 0);
}

function inUse(id: string, pid: number): WorkcellError {
  const who = pid === process.pid ? 'This process' : `Process ${pid}`;
  return new WorkcellError(
    'cell-in-use',
    `${who} works in cell "${id}". Let it call runtime.detach(), or end it; then the cell can be attached to.`,
    { details: { id, heldBy: pid } },
  );
}
