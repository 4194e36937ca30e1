/**
 * How many processes of a control group the kernel killed for want of memory. Every command asks before it runs, so a
 * few files stay open: asking an open one is a single read, which the kernel answers anew each time.
 */
import { closeSync, openSync, readSync } from 'node:fs';

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
    return Number(/^oom_kill (\d+)$/m.exec(content.toString('latin1', 0, length))?.[1] ?? 0);
  } catch {
    // Its group has gone.
    forgetOomKills(file);
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
