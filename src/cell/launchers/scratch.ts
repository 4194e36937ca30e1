/**
 * Temporary directories of this process, below one directory that only this user can enter. The name of their common
 * parent identifies its owner, so that the next process removes what a killed one could not.
 */
import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  statfsSync,
  unlinkSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import {
  type OwnDirectory,
  openOwnDirectory,
  ownName,
  runtimeDirectory,
  temporaryDirectory,
} from '../../base/own-directory.js';
import { discardTree, removeTree } from '../../base/remove-tree.js';
import { readProcess } from './process-table.js';

const roots = new Map<string, string>();

/** Makes a directory that only this user can enter. It goes at the latest with this process. */
export function makeScratch(purpose: string): string {
  return makeIn(temporaryDirectory(), purpose);
}

/**
 * The same for small things that come and go with every cell: in memory, where this machine offers that, because a
 * disk can take a millisecond to remove a directory. All of them are in one file system.
 */
export function makeFleeting(purpose: string): string {
  memory ??= memoryDirectory() ?? temporaryDirectory();
  return makeIn(memory, purpose);
}

let memory: OwnDirectory | undefined;

/** On systems with logins, logging out removes the user's files in `/dev/shm`, whatever still runs for them. */
function memoryDirectory(): OwnDirectory | undefined {
  const person = (process.getuid?.() ?? 0) >= 1000 && existsSync('/run/systemd/system');
  if (!person) return isMemory('/dev/shm') ? openOwnDirectory(join('/dev/shm', ownName())) : undefined;
  const own = runtimeDirectory();
  return isMemory(own.base) ? own : undefined;
}

/** True for a place whose files are in memory. */
export function isMemory(path: string): boolean {
  const tmpfs = 0x01021994;
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return statfsSync(path).type === tmpfs;
  } catch {
    return false;
  }
}

function makeIn(own: OwnDirectory, purpose: string): string {
  let root = roots.get(own.path);
  if (root === undefined) {
    const made = mkdtempSync(join(own.base, ownedPrefix()));
    const parent = `${own.path}${made.slice(own.base.length)}`;
    root = parent;
    roots.set(own.path, parent);
    process.once('exit', () => removeTree(parent));
    void sweepAbandoned(own);
  }
  return mkdtempSync(join(root, `${purpose}-`));
}

const prefixes = new Map<string, string>();

/** The beginning of a name that tells later processes whose it is. A process may become another user. */
export function ownedPrefix(): string {
  const known = prefixes.get(user());
  const prefix = known ?? `workcell-${owner(process.pid)}-`;
  if (known === undefined) prefixes.set(user(), prefix);
  return prefix;
}

/** True for a name whose owner has certainly ended, and was a process of this user. */
export function isAbandoned(name: string): boolean {
  const match = /^workcell-(\d+)-(\d+)-(\d+)-(\d+)-/.exec(name);
  // We cannot look up a process in another process namespace, and the system may hide one of another user.
  return (
    match !== null &&
    match[1] === user() &&
    match[2] === namespace() &&
    match[0] !== `workcell-${owner(Number(match[3]))}-`
  );
}

/** Removes a file, if it is there. Unlike `rmSync` it does not look first, which every command would pay for. */
export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/**
 * Removes a directory that others find by its name. It renames the directory first, so that no process finds it half
 * removed. If something kills this process meanwhile, the next one removes the rest.
 */
export async function discardNamed(path: string): Promise<void> {
  const unnamed = join(dirname(path), `${ownedPrefix()}${basename(path)}`);
  try {
    renameSync(path, unnamed);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  await discardTree(unnamed, { onlyOwn: true });
}

/** Removes what dead owners left. Nobody waits for it; after a failure the next one tries again. */
export async function sweepAbandoned(own: OwnDirectory): Promise<void> {
  const names = readdirSync(own.base).filter(isAbandoned);
  await Promise.allSettled(names.map((name) => discardTree(join(own.base, name), { onlyOwn: true })));
}

/** Identifies a process, so that nobody confuses it with a later one that has the same pid. */
function owner(pid: number): string {
  return `${user()}-${namespace()}-${pid}-${readProcess(pid)?.startTicks ?? 0}`;
}

function user(): string {
  return String(process.geteuid?.() ?? 0);
}

function namespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
  } catch {
    return '0';
  }
}
