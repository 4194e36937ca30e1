/** The seccomp filter, compiled once and kept in a file without a name. */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { WorkcellError } from '../../protocol/index.js';
import { makeScratch } from '../scratch.js';
import { type Architecture, seccompFilter } from '../seccomp/index.js';

let kept: number | undefined;

/** Opens the filter for one reader, who starts at its beginning. The caller closes the descriptor. */
export function openFilter(): number {
  kept ??= writeFilter();
  return openSync(`/proc/self/fd/${kept}`, 'r');
}

function writeFilter(): number {
  const { arch } = process;
  if (!isSupported(arch)) {
    throw new WorkcellError(
      'capability-unsupported',
      `There is no seccomp filter for ${arch}, only for x64 and arm64.`,
    );
  }
  const directory = makeScratch('filter');
  const descriptor = openSync(join(directory, 'filter'), 'wx+', 0o600);
  try {
    writeSync(descriptor, seccompFilter(arch));
  } catch (error) {
    closeSync(descriptor);
    throw error;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  return descriptor;
}

function isSupported(arch: string): arch is Architecture {
  return arch === 'x64' || arch === 'arm64';
}
