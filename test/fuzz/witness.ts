/** What the kernel of this machine knows, whatever a cell says. */
import { readdir, readFile } from 'node:fs/promises';

/** How many processes of this machine, those in cells included, have the word in their command line. */
export async function countProcesses(word: string): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')),
  );
  return lines.filter((line) => line.includes(word)).length;
}
