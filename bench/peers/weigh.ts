/** Memory of everything that a peer started, also of what left its process tree. */
import { readdirSync, readFileSync } from 'node:fs';
import { descendants, proportionalBytes } from '../memory.js';
import { markVariable } from './link.js';

/** Processes of the peer with that mark, and all below those of `roots`. */
export function processesOf(mark: string, roots: readonly number[]): number[] {
  const marked = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => hasMark(pid, mark));
  return [...new Set([...roots, ...marked].flatMap((pid) => [pid, ...below(pid)]))];
}

export function bytesOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + proportionalBytes(pid), 0);
}

function hasMark(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`${markVariable}=${mark}`);
  } catch {
    return false;
  }
}

function below(pid: number): number[] {
  try {
    return descendants(pid);
  } catch {
    // It ended while we looked.
    return [];
  }
}
