/**
 * Keeps descriptors of this process out of the programs it starts. Terminals come from a native module that does not
 * mark them close-on-exec, so without this a program would hold the terminals of other cells and could type on them.
 */
import { openSync } from 'node:fs';

type Stdio = 'pipe' | 'ignore' | number;

const hidden = new Map<number, symbol>();
let nothing: number | undefined;

/**
 * Hides this descriptor from programs that start from now on. Returns a disposer. You can call it late: it checks
 * that nothing reused the descriptor.
 */
export function hideDescriptor(descriptor: number): () => void {
  const mark = Symbol('hidden');
  hidden.set(descriptor, mark);
  return () => {
    if (hidden.get(descriptor) === mark) hidden.delete(descriptor);
  };
}

/** Call it when you close the descriptor, before you open anything else. */
export function forgetDescriptor(descriptor: number): void {
  hidden.delete(descriptor);
}

/**
 * The `stdio` of a spawn that passes these descriptors to the program, and `/dev/null` in the place of hidden ones.
 */
export function withHiddenDescriptors(stdio: readonly Stdio[]): Stdio[] {
  if (hidden.size === 0) return [...stdio];
  nothing ??= openSync('/dev/null', 'r+');
  const length = Math.max(stdio.length, ...[...hidden.keys()].map((descriptor) => descriptor + 1));
  const all = new Array<Stdio>(length).fill('ignore');
  for (const descriptor of hidden.keys()) all[descriptor] = nothing;
  for (const [descriptor, entry] of stdio.entries()) all[descriptor] = entry;
  return all;
}
