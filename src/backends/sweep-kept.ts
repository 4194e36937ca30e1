/** Removes the directories of kept cells that nobody has opened for long. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { discardTree } from '../base/remove-tree.js';

const keptMs = 30 * 86_400_000;

/**
 * Cells can end while no program of this package works in them. What nobody opened for so long is of one that did. Nobody waits for
 * it, so it never fails: what cannot be looked at or removed now stays for the next time.
 */
export async function sweepKept(all: string): Promise<void> {
  for (const name of await readdir(all).catch(() => [])) {
    const path = join(all, name);
    const opened = await stat(path).catch(() => undefined);
    if (opened !== undefined && Date.now() - opened.mtimeMs > keptMs) await discardTree(path).catch(() => {});
  }
}
