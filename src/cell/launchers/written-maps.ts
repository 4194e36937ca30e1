/** Finds the files that programs write to through memory: the kernel need not stamp a file for such a change. */
import { readFileSync } from 'node:fs';

const mostBytes = 33_554_432;
const line = /^[0-9a-f]+-[0-9a-f]+ .w.s \S+ \S+ ([1-9]\d*)/gm;

/** The inodes of files that these processes share and may write to. Undefined when that takes too much to read. */
export function writtenMaps(pids: Iterable<number>): ReadonlySet<number> | undefined {
  const inodes = new Set<number>();
  let left = mostBytes;
  for (const pid of pids) {
    const maps = mapsOf(pid);
    left -= maps.length;
    if (left < 0) return undefined;
    for (const [, inode] of maps.matchAll(line)) inodes.add(Number(inode));
  }
  return inodes;
}

/** Empty for a process that has ended, or that another user runs. */
function mapsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/maps`, 'latin1');
  } catch {
    return '';
  }
}
