import { readFileSync } from 'node:fs';

let next = 0;

/** Picks this many of the processors that this process may use, different ones each time. */
export function processorList(count: number): string {
  const allowed = parseList(
    /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1] ?? '0',
  );
  const chosen = Array.from(
    { length: Math.min(count, allowed.length) },
    () => allowed[next++ % allowed.length],
  );
  return chosen.join(',');
}

/** Reads a list such as `0-3,8`. */
export function parseList(list: string): number[] {
  return list.split(',').flatMap((part) => {
    const [first = 0, last = first] = part.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}
