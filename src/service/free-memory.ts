/** How much memory a start may take: of this machine, and of the control group that holds this process, if one does. */
import { readFileSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';

/** A control group without a limit shows one that no machine reaches. */
const noLimit = 2 ** 50;

export function freeMemory(): number {
  const machine = freemem();
  const limit = process.constrainedMemory();
  if (limit === 0 || limit > noLimit) return machine;
  return Math.min(machine, process.availableMemory() + cachedFiles());
}

/** What the control group of this process counts as used, and the system gives back as soon as somebody needs it. */
export function cachedFiles(root = '/'): number {
  const groups = textOf(join(root, 'proc/self/cgroup')) ?? '';
  const [, version2] = /^0::(\/.*)$/m.exec(groups) ?? [];
  const [, version1] = /^\d+:memory:(\/.*)$/m.exec(groups) ?? [];
  const mounted = join(root, 'sys/fs/cgroup', version1 === undefined ? '' : 'memory');
  // A container may see its own group as the first one, and still be told the path that the machine knows it by.
  const stat =
    textOf(join(mounted, version1 ?? version2 ?? '', 'memory.stat')) ?? textOf(join(mounted, 'memory.stat'));
  const [, bytes] =
    /^total_inactive_file (\d+)$/m.exec(stat ?? '') ?? /^inactive_file (\d+)$/m.exec(stat ?? '') ?? [];
  return Number(bytes ?? 0);
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
