/** An `/etc` with copies in the place of mounts, made in the background. */
import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { relative } from 'node:path';
import { isMemory, makeFleeting } from '../scratch.js';
import type { Etc } from './etc.js';

interface Copy {
  /** When the originals last changed. */
  readonly stamp: string;
  /** Undefined while the copy is in progress, and when it failed. */
  etc?: Etc;
}

const copies = new Map<string, Copy>();

/** The copy of `etc`; undefined until it exists, and again after its source has changed. */
export function copyOf(etc: Etc): Etc | undefined {
  const stamp = etc.shared.map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs).join();
  const known = copies.get(etc.path);
  if (known?.stamp !== stamp) {
    const copy: Copy = { stamp };
    copies.set(etc.path, copy);
    make(etc, copy);
  }
  return known?.etc !== undefined && known.stamp === stamp && existsSync(known.etc.path)
    ? known.etc
    : undefined;
}

const script =
  'to=$1 from=$2; shift 2; cp -a "$from/." "$to"; for part; do cp -a "/etc/$part/." "$to/$part"; done';

function make(etc: Etc, copy: Copy): void {
  const path = makeFleeting('etc');
  // On a disk it would take longer than it saves.
  if (!isMemory(path)) return;
  const parts = etc.shared.map((shared) => relative('/etc', shared));
  const options = { cwd: '/', env: { PATH: '/usr/bin:/bin' } };
  execFile('/bin/sh', ['-e', '-c', script, 'sh', path, etc.path, ...parts], options, (error) => {
    if (error === null) copy.etc = { path, shared: [] };
  }).unref();
}
