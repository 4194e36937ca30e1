/** Where this process may make control groups. */
import { accessSync, constants, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

type Controller = 'memory' | 'pids' | 'cpu';

export interface ControlGroups {
  readonly version: 1 | 2;
  /** The directory to make groups in, for each usable controller. */
  readonly parents: Readonly<Partial<Record<Controller, string>>>;
}

const controllers: readonly Controller[] = ['memory', 'pids', 'cpu'];

/** `mounts` and `membership`: the texts of `/proc/self/mountinfo` and `/proc/self/cgroup`. */
export function findControlGroups(
  mounts = read('/proc/self/mountinfo'),
  membership = read('/proc/self/cgroup'),
): ControlGroups | undefined {
  const found = parseMounts(mounts);
  const first = firstVersion(found, membership);
  return first ?? secondVersion(found, membership);
}

interface Mount {
  readonly root: string;
  readonly path: string;
  readonly type: string;
  readonly options: readonly string[];
}

function parseMounts(text: string): Mount[] {
  return text.split('\n').flatMap((line) => {
    const [left = '', right = ''] = line.split(' - ');
    const [, , , root = '/', path = ''] = left.split(' ');
    const [type = '', , options = ''] = right.split(' ');
    return type.startsWith('cgroup') ? [{ root, path, type, options: options.split(',') }] : [];
  });
}

/** Each controller has its own hierarchy, and this process a place in each. */
function firstVersion(mounts: readonly Mount[], membership: string): ControlGroups | undefined {
  const parents: Partial<Record<Controller, string>> = {};
  for (const controller of controllers) {
    const mount = mounts.find(({ type, options }) => type === 'cgroup' && options.includes(controller));
    const own = new RegExp(`^\\d+:(?:[^:]*,)?${controller}(?:,[^:]*)?:(.*)$`, 'm').exec(membership)?.[1];
    const path = mount === undefined || own === undefined ? undefined : placeIn(mount, own);
    if (path !== undefined && isWritable(path)) parents[controller] = path;
  }
  return Object.keys(parents).length === 0 ? undefined : { version: 1, parents };
}

/**
 * The nearest group upwards that hands controllers on to groups below it and that this user may write. Processes
 * live only in leaves, so the group that this process is in can rarely be the parent itself.
 */
function secondVersion(mounts: readonly Mount[], membership: string): ControlGroups | undefined {
  const mount = mounts.find(({ type }) => type === 'cgroup2');
  const own = /^0::(.*)$/m.exec(membership)?.[1];
  const start = mount === undefined || own === undefined ? undefined : placeIn(mount, own);
  if (mount === undefined || start === undefined) return undefined;
  for (let path = start; path.startsWith(mount.path); path = dirname(path)) {
    if (!isWritable(path) || !isWritable(join(path, 'cgroup.procs'))) continue;
    const offered = read(join(path, 'cgroup.controllers')).trim().split(' ');
    const wanted = controllers.filter((controller) => offered.includes(controller));
    if (wanted.length > 0 && handsOn(path, wanted)) {
      return { version: 2, parents: Object.fromEntries(wanted.map((controller) => [controller, path])) };
    }
  }
  return undefined;
}

function handsOn(path: string, wanted: readonly Controller[]): boolean {
  const file = join(path, 'cgroup.subtree_control');
  const enabled = () => read(file).trim().split(' ');
  const missing = wanted.filter((controller) => !enabled().includes(controller));
  if (missing.length === 0) return true;
  try {
    writeFileSync(file, missing.map((controller) => `+${controller}`).join(' '));
    return true;
  } catch {
    return false;
  }
}

/** A mount may show only a part of the hierarchy. */
function placeIn({ root, path }: Mount, own: string): string | undefined {
  if (root === '/') return resolve(path, `.${own}`);
  if (own === root || own.startsWith(`${root}/`)) return resolve(path, `.${own.slice(root.length)}`);
  return own === '/' ? path : undefined;
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
