/** The seccomp filter, compiled once and kept in a file of this process. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WorkcellError } from '../../../protocol/index.js';
import { makeFleeting } from '../scratch.js';
import { type Architecture, type SeccompOptions, seccompFilter } from '../seccomp/index.js';

const kept = new Map<string, string>();

/** Path of the filter. */
export function filterFile(options: SeccompOptions = {}): string {
  const key = JSON.stringify(options);
  const path = kept.get(key) ?? writeFilter(options);
  kept.set(key, path);
  return path;
}

function writeFilter(options: SeccompOptions): string {
  const { arch } = process;
  if (!isSupported(arch)) {
    throw new WorkcellError(
      'capability-unsupported',
      `There is no seccomp filter for ${arch}, only for x64 and arm64.`,
    );
  }
  const path = join(makeFleeting('filter'), 'filter');
  writeFileSync(path, seccompFilter(arch, options), { mode: 0o600, flag: 'wx' });
  return path;
}

function isSupported(arch: string): arch is Architecture {
  return arch === 'x64' || arch === 'arm64';
}
