/**
 * Temporary directories of this process. Their common parent carries the name of its owner, so that what a killed
 * process could not remove is removed by the next one that starts.
 */
import { spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statfsSync,
  unlinkSync,
} from 'node:fs';
import { rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readProcess } from './process-table.js';

const roots = new Map<string, string>();

/** Makes a directory that only this user can enter. It goes at the latest with this process. */
export function makeScratch(purpose: string): string {
  return makeIn(tmpdir(), purpose);
}

/**
 * The same for small things that come and go with every cell: in memory, where this machine offers that, because a
 * disk can take a millisecond to remove a directory. All of them are in one file system.
 */
export function makeFleeting(purpose: string): string {
  memory ??= memoryPlace() ?? tmpdir();
  return makeIn(memory, purpose);
}

let memory: string | undefined;

/** Where people log in, what they have in `/dev/shm` is removed when they log out, whatever still runs for them. */
function memoryPlace(): string | undefined {
  const person = (process.getuid?.() ?? 0) >= 1000 && existsSync('/run/systemd/system');
  const place = person ? process.env.XDG_RUNTIME_DIR : '/dev/shm';
  return place !== undefined && isMemory(place) ? place : undefined;
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

function makeIn(place: string, purpose: string): string {
  let root = roots.get(place);
  if (root === undefined) {
    const parent = mkdtempSync(join(place, ownedPrefix()));
    root = parent;
    roots.set(place, parent);
    process.once('exit', () => removeTree(parent));
    void sweep(place);
  }
  return mkdtempSync(join(root, `${purpose}-`));
}

let prefix: string | undefined;

/** The beginning of a name that tells later processes whose it is. */
export function ownedPrefix(): string {
  prefix ??= `workcell-${owner(process.pid)}-`;
  return prefix;
}

/** True for a name whose owner is gone for certain. */
export function isAbandoned(name: string): boolean {
  const match = /^workcell-(\d+)-(\d+)-(\d+)-/.exec(name);
  // A process in another process namespace cannot be looked up from here, so what it owns is left alone.
  return match !== null && match[1] === namespace() && match[0] !== `workcell-${owner(Number(match[2]))}-`;
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
 * Removes a directory with all that is in it, whatever a program made of it: one that is nested deeper than Node can
 * follow, or whose permissions keep its own owner out, needs the system's own tools.
 */
export function removeTree(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    spawnSync('chmod', ['-R', 'u+rwX', '--', path], { stdio: 'ignore' });
    spawnSync('rm', ['-rf', '--', path], { stdio: 'ignore' });
  }
}

/** The same without keeping this thread waiting, which a disk does even for a directory that is empty. */
export async function discardTree(path: string): Promise<void> {
  await rmdir(path)
    .catch(() => rm(path, { recursive: true, force: true }))
    .catch(() => removeTree(path));
}

/** Removes what owners that are gone have left. Nobody waits for it and a failure is the next one's to try again. */
async function sweep(place: string): Promise<void> {
  const names = readdirSync(place).filter(isAbandoned);
  await Promise.allSettled(names.map((name) => rm(join(place, name), { recursive: true, force: true })));
}

/** Names a process so that a later one with the same id is not taken for it. */
function owner(pid: number): string {
  return `${namespace()}-${pid}-${readProcess(pid)?.startTicks ?? 0}`;
}

function namespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
  } catch {
    return '0';
  }
}
