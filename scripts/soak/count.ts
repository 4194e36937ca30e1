/**
 * Counts what sandboxes of certain owners have on this machine. Others may use it at the same time, so it traces
 * everything: cells have a private temporary directory in their command line or mounts, control groups carry their
 * owner.
 */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

export interface Scope {
  /** The temporary directory of all owners, which no other process has. */
  readonly directory: string;
  /** How the names of the owners' control groups and directories begin. */
  readonly owners: ReadonlySet<string>;
}

export interface Counts {
  /** Those in cells, bubblewrap itself, and children of this process, unreaped ones included. */
  readonly processes: number;
  readonly namespaces: number;
  /** Mounts of cells that this process sees. */
  readonly mounts: number;
  /** Directories in all hierarchies of both versions. */
  readonly controlGroups: number;
  /** What each owner has in the temporary directory and in the memory file system, and one level into it. */
  readonly files: number;
}

export function count({ directory, owners }: Scope): Counts {
  const mark = basename(directory);
  const inCells = listPids().filter(
    (pid) => mentions(pid, 'cmdline', mark) || mentions(pid, 'mountinfo', mark),
  );
  return {
    processes: new Set([...inCells, ...children()]).size,
    namespaces: namespacesOf(inCells),
    mounts: read('/proc/self/mountinfo')
      .split('\n')
      .filter((line) => line.includes(mark)).length,
    controlGroups: controlGroups(owners),
    files: entries(directory, owners) + entries('/dev/shm', owners),
  };
}

function listPids(): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid);
}

function mentions(pid: number, file: string, mark: string): boolean {
  return read(`/proc/${pid}/${file}`).includes(mark);
}

function children(): number[] {
  return readdirSync('/proc/self/task').flatMap((thread) =>
    read(`/proc/self/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
}

/** Bubblewrap itself is in the namespaces of this process, which do not count. */
function namespacesOf(pids: readonly number[]): number {
  const own = new Set(namespaceIds('self'));
  return new Set(pids.flatMap(namespaceIds).filter((id) => !own.has(id))).size;
}

function namespaceIds(pid: number | 'self'): string[] {
  try {
    return readdirSync(`/proc/${pid}/ns`).map((name) => readlinkSync(`/proc/${pid}/ns/${name}`));
  } catch {
    return [];
  }
}

function controlGroups(owners: ReadonlySet<string>): number {
  const mounts = read('/proc/self/mounts').matchAll(/^\S+ (\S+) cgroup2? /gm);
  const isOwned = (name: string) => [...owners].some((owner) => name.startsWith(owner));
  const below = (path: string): number =>
    directories(path).reduce((sum, name) => sum + (isOwned(name) ? 1 : 0) + below(join(path, name)), 0);
  return [...mounts].reduce((sum, [, path = '']) => sum + below(path), 0);
}

function directories(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

function entries(directory: string, owners: ReadonlySet<string>): number {
  const names = readdirSync(directory).filter((name) => [...owners].some((owner) => name.startsWith(owner)));
  return names.reduce((sum, name) => sum + 1 + childCount(join(directory, name)), 0);
}

function childCount(path: string): number {
  try {
    return statSync(path).isDirectory() ? readdirSync(path).length : 0;
  } catch {
    return 0;
  }
}

/** Empty for a file that no longer exists. */
function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
