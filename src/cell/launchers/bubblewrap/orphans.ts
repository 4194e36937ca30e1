/**
 * Ends what remains of a cell when something killed its owner just after bubblewrap made the first process. That
 * process waits for the rest of bubblewrap, which died with the owner, and nothing tells it. It has not run any code
 * of the cell yet.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { isAbandoned } from '../scratch.js';

let looked = false;

/** Looks once. Nobody waits for it; after a failure the next process tries again. */
export function sweepOrphans(): void {
  if (!looked) void sweep().catch(() => {});
  looked = true;
}

async function sweep(): Promise<void> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0);
  await Promise.all(pids.map(endIfOrphan));
}

/** The command line names directories of the owner, the exchange directory among them. */
async function endIfOrphan(pid: number): Promise<void> {
  if ((await read(`/proc/${pid}/comm`)) !== 'bwrap\n') return;
  // Anybody can give a process any name and any arguments.
  if ((await stat(`/proc/${pid}`)).uid !== process.geteuid?.()) return;
  const owners = (await read(`/proc/${pid}/cmdline`)).matchAll(/\/(workcell-[^/\0]+)\/cell-/g);
  if ([...owners].some(([, name = '']) => isAbandoned(name))) process.kill(pid, 'SIGKILL');
}

async function read(path: string): Promise<string> {
  return readFile(path, 'latin1').catch(() => '');
}
