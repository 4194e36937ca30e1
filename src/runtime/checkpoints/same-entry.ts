/** Whether two entries are the same in all that a checkpoint keeps: kind, mode, content. */
import { closeSync, constants, openSync, readlinkSync, readSync, type Stats } from 'node:fs';
import { Pace } from '../../base/pace.js';
import { Handle, isRefusal, refusal } from './layer-folder.js';
import type { Found } from './workspace-view.js';

export type EntryKind = 'file' | 'directory' | 'link' | 'special';

export function kindOf(stats: Stats): EntryKind {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'directory';
  return stats.isSymbolicLink() ? 'link' : 'special';
}

/** A cell can make files of any size that hold nothing. What is larger counts as different, which is always safe. */
const comparedBytes = 67_108_864;

export interface CompareOptions {
  /** Larger files count as different. Default: 64 MiB. */
  readonly mostBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export async function isSameEntry(one: Found, other: Found, options: CompareOptions = {}): Promise<boolean> {
  const [a, b] = [one.stats, other.stats];
  const kind = kindOf(a);
  if (kind !== kindOf(b)) return false;
  if (a.dev === b.dev && a.ino === b.ino) return true;
  if (kind === 'link') return targetOf(one).equals(targetOf(other));
  if ((a.mode & 0o7777) !== (b.mode & 0o7777)) return false;
  return kind !== 'file' || isSameContent(one, other, options);
}

/** Of two regular files. */
export async function isSameContent(
  one: Found,
  other: Found,
  { mostBytes = comparedBytes, signal }: CompareOptions = {},
): Promise<boolean> {
  const [a, b] = [one.stats, other.stats];
  if (a.dev === b.dev && a.ino === b.ino) return true;
  if (a.size !== b.size || a.size > mostBytes) return false;
  return hasSameContent(one, other, signal).catch(unlessRefused);
}

/** What nobody can read counts as different. */
function unlessRefused(error: unknown): false {
  if (isRefusal(error)) return false;
  throw error;
}

function targetOf({ folder, name }: Found): Buffer {
  return readlinkSync(folder.at(name), { encoding: 'buffer' });
}

const pieceBytes = 65_536;

async function hasSameContent(one: Found, other: Found, signal: AbortSignal | undefined): Promise<boolean> {
  const pace = new Pace(signal);
  const [first, second] = [openEntry(one), openEntry(other)];
  try {
    const [left, right] = [Buffer.allocUnsafe(pieceBytes), Buffer.allocUnsafe(pieceBytes)];
    for (;;) {
      const length = readSync(first, left);
      const count = readSync(second, right, 0, Math.max(length, 1), null);
      if (length !== count || left.compare(right, 0, count, 0, length) !== 0) return false;
      if (length === 0) return true;
      await pace.step();
    }
  } finally {
    closeSync(first);
    closeSync(second);
  }
}

/** Opens a regular file, also one that its own owner may not read. The caller closes it. */
export function openEntry(found: Found): number {
  using _unlocked = unlockEntry(found);
  try {
    const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
    return openSync(found.folder.at(found.name), flags);
  } catch (cause) {
    throw refusal(found.name, cause);
  }
}

/** Until its end, the owner may read the file, whatever its mode says. Undefined where that is so already, or not ours to change. */
export function unlockEntry({ folder, name, stats }: Found): Disposable | undefined {
  if (!folder.unlocks || process.geteuid?.() === 0 || (stats.mode & 0o400) !== 0) return undefined;
  const entry = Handle.open(folder, name);
  if (!entry?.stats.isFile()) {
    entry?.[Symbol.dispose]();
    return undefined;
  }
  entry.mode(entry.stats.mode | 0o400);
  return {
    [Symbol.dispose]: () => {
      entry.mode(entry.stats.mode);
      entry[Symbol.dispose]();
    },
  };
}
