/** What processes use, as the kernel counts it. */
import { readdirSync, readFileSync } from 'node:fs';

export const mebibyte = 1024 * 1024;

/** Pages that several processes share count in equal parts for each. */
export function proportionalBytes(pid: number): number {
  const match = /^Pss: +(\d+) kB$/m.exec(read(`/proc/${pid}/smaps_rollup`));
  return match === null ? 0 : Number(match[1]) * 1024;
}

/** Of the machine. */
export function availableBytes(): number {
  return Number(/^MemAvailable: +(\d+) kB$/m.exec(read('/proc/meminfo'))?.[1]) * 1024;
}

export function descendants(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    read(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
  return children.flatMap((child) => [child, ...descendants(child)]);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
