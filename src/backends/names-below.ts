/** Which entries a directory has, as far as a limit reaches. */
import { type Dirent, readdirSync } from 'node:fs';

/** Paths below it, in Latin-1, those of fewer levels first. Leaves out what this user may not read. */
export function namesBelow(directory: string, limit: number): Set<string> {
  const found = new Set<string>();
  const queue = [''];
  for (const parent of queue) {
    for (const entry of entriesOf(directory, parent)) {
      const path = parent === '' ? entry.name : `${parent}/${entry.name}`;
      found.add(path);
      if (entry.isDirectory()) queue.push(path);
    }
    if (found.size >= limit) break;
  }
  return found;
}

function entriesOf(directory: string, parent: string): Dirent[] {
  const path = Buffer.concat([Buffer.from(`${directory}/`), Buffer.from(parent, 'latin1')]);
  try {
    return readdirSync(path, { withFileTypes: true, encoding: 'latin1' as BufferEncoding }) as Dirent[];
  } catch {
    return [];
  }
}
