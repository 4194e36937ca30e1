/**
 * Opens files and directories that control this process, or from which it removes things, only where no other user
 * can interfere. Every directory and link on the way, and its target, belongs to this user or to root, and other
 * users can write to none of them. A shared directory with the sticky bit, such as `/tmp`, may be on the way.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  type Stats,
} from 'node:fs';
import { join, resolve } from 'node:path';

/** Why we reject a path. `reason` completes "<path> ". */
export class UntrustedPathError extends Error {
  readonly path: string;
  readonly reason: string;
  /** Anybody can put a file into a shared directory, so one of another user there says nothing about this user. */
  readonly shared: boolean;

  constructor(path: string, reason: string, shared = false) {
    super(`${path} ${reason}`);
    this.name = 'UntrustedPathError';
    this.path = path;
    this.reason = reason;
    this.shared = shared;
  }
}

/** An open file or directory. It stays the same until you dispose of it, whatever becomes of its name. */
export interface Reached extends Disposable {
  /** Its path without links. */
  readonly path: string;
  /** The path by which the operating system reaches it. */
  readonly base: string;
  readonly stats: Stats;
}

/** `O_PATH`: refers to a file without opening it; Node does not name this Linux flag. */
const pathOnly = 0o10000000;
const hasDescriptorPaths = existsSync('/proc/self/fd');
const maxLinks = 40;

/** Throws `UntrustedPathError`, or the operating system's error. With `follow: false` the last name may not be a link. */
export function reachTrusted(path: string, { follow = true }: { follow?: boolean } = {}): Reached {
  const way = [step('', '/', undefined)];
  try {
    let names = split(resolve(path));
    let links = 0;
    for (;;) {
      const [name, ...rest] = names;
      if (name === undefined) break;
      names = rest;
      if (name === '..') {
        if (way.length > 1) way.pop()?.[Symbol.dispose]();
        continue;
      }
      const parent = way.at(-1) as Reached;
      const next = step(name, join(parent.path, name), parent);
      if (!next.stats.isSymbolicLink()) {
        way.push(next);
        continue;
      }
      next[Symbol.dispose]();
      if (!follow && rest.length === 0) throw new UntrustedPathError(next.path, 'is a symbolic link');
      if (++links > maxLinks) throw new UntrustedPathError(path, 'leads through too many links');
      const target = readlinkSync(`${parent.base}/${name}`);
      if (target.startsWith('/')) for (const passed of way.splice(1)) passed[Symbol.dispose]();
      names = [...split(target), ...rest];
    }
    return way.pop() as Reached;
  } finally {
    for (const passed of way) passed[Symbol.dispose]();
  }
}

/** The text of a regular file of at most `maxBytes`, where it is, and whether only its owner can read it. */
export function readTrusted(
  path: string,
  { follow, maxBytes = 1_048_576 }: { follow?: boolean; maxBytes?: number } = {},
): { path: string; text: string; isPrivate: boolean } {
  using file = reachTrusted(path, { follow: follow ?? true });
  if (!file.stats.isFile()) throw new UntrustedPathError(file.path, 'is not a regular file');
  if (file.stats.size > maxBytes) throw new UntrustedPathError(file.path, `is larger than ${maxBytes} bytes`);
  const descriptor = openSync(file.base, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const isPrivate = (file.stats.mode & 0o077) === 0;
    return { path: file.path, text: readFileSync(descriptor, 'utf8'), isPrivate };
  } finally {
    closeSync(descriptor);
  }
}

/** Opens one more name of the path and refuses it unless it is trustworthy. */
function step(name: string, path: string, parent: Reached | undefined): Reached {
  const next = enter(parent === undefined ? '/' : `${parent.base}/${name}`, path);
  const reason = complaint(next.stats);
  if (reason === undefined) return next;
  next[Symbol.dispose]();
  throw new UntrustedPathError(path, reason, parent !== undefined && isShared(parent.stats));
}

function enter(place: string, path: string): Reached {
  if (!hasDescriptorPaths) return { path, base: path, stats: lstatSync(path), [Symbol.dispose]() {} };
  const descriptor = openSync(place, pathOnly | constants.O_NOFOLLOW);
  return {
    path,
    base: `/proc/self/fd/${descriptor}`,
    stats: fstatSync(descriptor),
    [Symbol.dispose]: () => closeSync(descriptor),
  };
}

function complaint(stats: Stats): string | undefined {
  const { uid, gid, mode } = stats;
  if (!isTrustedUser(uid)) return `belongs to user ${uid}, who is neither you nor root`;
  if (stats.isSymbolicLink() || isShared(stats)) return undefined;
  const byOthers = (mode & 0o002) !== 0;
  const byGroup = (mode & 0o020) !== 0 && !isPrivateGroup(gid);
  const shown = (mode & 0o7777).toString(8).padStart(4, '0');
  return byOthers || byGroup ? `can be written by other users (mode ${shown}, group ${gid})` : undefined;
}

/** In a directory with the sticky bit, only the owner of an entry can rename and remove it. */
function isShared(stats: Stats): boolean {
  return stats.isDirectory() && (stats.mode & 0o1000) !== 0 && (stats.mode & 0o022) !== 0;
}

function isTrustedUser(uid: number): boolean {
  return uid === 0 || uid === process.geteuid?.() || uid === unknownUser();
}

let unknown: number | null | undefined = null;

/** The uid that stands for all users outside the namespace of this process, its creator among them. */
function unknownUser(): number | undefined {
  if (unknown === null) {
    const overflow = Number(read('/proc/sys/kernel/overflowuid') || Number.NaN);
    const ranges = read('/proc/self/uid_map')
      .split('\n')
      .map((line) => line.trim().split(/\s+/).map(Number));
    const isMapped = ranges.some(([first = 0, , count = 0]) => overflow >= first && overflow < first + count);
    unknown = Number.isNaN(overflow) || isMapped ? undefined : overflow;
  }
  return unknown;
}

/** Many systems give each user a private group and let it write new files. */
function isPrivateGroup(gid: number): boolean {
  if (gid !== process.getegid?.()) return false;
  const users = read('/etc/passwd')
    .split('\n')
    .map((line) => line.split(':'));
  const own = users.find((fields) => fields[2] === String(process.geteuid?.()))?.[0];
  const group = read('/etc/group')
    .split('\n')
    .map((line) => line.split(':'))
    .find((fields) => fields[2] === String(gid));
  if (own === undefined || group === undefined) return false;
  const members = (group[3] ?? '').split(',').filter(Boolean);
  const others = users.filter((fields) => fields[3] === String(gid)).map(([name]) => name);
  return [...members, ...others].every((name) => name === own);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function split(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}
