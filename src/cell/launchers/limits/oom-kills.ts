/**
 * How many processes of a control group the kernel killed for want of memory. Every command asks before it runs, so a
 * few files stay open: asking an open one is a single read, which the kernel answers anew each time.
 */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

/** Cells that run commands now need theirs; thousands of idle ones must not take a descriptor each. */
const mostOpen = 64;

/** The least recently asked first. */
const opened = new Map<string, number>();
const content = Buffer.allocUnsafeSlow(4096);

/** Undefined when there is no such file. */
export function readOomKills(file: string): number | undefined {
  const descriptor = opened.get(file) ?? open(file);
  if (descriptor === undefined) return undefined;
  opened.delete(file);
  opened.set(file, descriptor);
  try {
    const length = readSync(descriptor, content, 0, content.length, 0);
    return countIn(content.toString('latin1', 0, length));
  } catch {
    // Its group has gone.
    forgetOomKills(file);
    return undefined;
  }
}

/**
 * The same for a cell whose programs run as the user of this process: they see what it has open, so nothing stays so.
 * Undefined when there is no such file.
 */
export function readOwnOomKills(file: string): number | undefined {
  try {
    return countIn(readFileSync(file, 'latin1'));
  } catch {
    return undefined;
  }
}

/** Call it when the group goes. */
export function forgetOomKills(file: string): void {
  const descriptor = opened.get(file);
  if (descriptor === undefined) return;
  opened.delete(file);
  closeSync(descriptor);
}

function countIn(events: string): number {
  return Number(/^oom_kill (\d+)$/m.exec(events)?.[1] ?? 0);
}

function open(file: string): number | undefined {
  for (const oldest of opened.keys()) {
    if (opened.size < mostOpen) break;
    forgetOomKills(oldest);
  }
  try {
    const descriptor = openSync(file, 'r');
    opened.set(file, descriptor);
    return descriptor;
  } catch {
    return undefined;
  }
}
