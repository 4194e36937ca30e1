/**
 * Captures what a workspace holds as a layer: a tree of what differs from the base. A layer is plain: a directory in it
 * always merges with the one below, and a whiteout stands for each name that is gone. So every part of this program can read
 * one, and the kernel can mount one, without the extended attributes that Node cannot reach.
 */
import { chmodSync, linkSync, mkdirSync, type Stats } from 'node:fs';
import { Pace } from '../../base/pace.js';
import { WorkcellError } from '../../protocol/index.js';
import type { Difference } from './compare.js';
import { copyEntry } from './copy-entry.js';
import type { Links } from './hard-links.js';
import { Folder, isCopied, isWhiteout } from './layer-folder.js';
import { linkEntry, settle } from './link-entry.js';
import { isSameEntry } from './same-entry.js';
import type { Whiteouts } from './whiteouts.js';
import type { Found } from './workspace-view.js';

export interface Layer {
  readonly path: string;
  /**
   * The state of each file at its capture, so that the next capture shares unchanged ones. The paths of directories
   * end in a slash.
   */
  readonly seen: ReadonlyMap<string, string>;
  /** The entries of the base that the cell replaced. */
  readonly covered: ReadonlySet<string>;
  /** The names of files that have several, of those that the cell wrote. */
  readonly links: Links;
  readonly files: number;
  readonly bytes: number;
  /** Of `bytes`, those that it shares with no layer before. */
  readonly ownBytes: number;
}

export interface CaptureSource {
  /** What the cell wrote: the upper layer of an overlay, or a whole directory. */
  readonly upper: string;
  /** The layer that the cell started from. */
  readonly lower?: string | undefined;
  /** The directory below all layers. */
  readonly base: string;
  /** The workspace as the cell sees it. */
  readonly merged: string;
  /**
   * The inodes of files that programs of the cell may write to through memory, which leaves the times of a file as they are.
   * Undefined: it may be any.
   */
  readonly mapped?: (() => ReadonlySet<number> | undefined) | undefined;
  /** The upper directory is the caller's, so modes in it stay as they are. */
  readonly isCallers?: boolean | undefined;
  /** Leaves out what other file systems show in it. */
  readonly oneDevice?: boolean | undefined;
}

export interface CaptureLimits {
  readonly maxBytes?: number | undefined;
  readonly maxFiles?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Nothing may write to the workspace meanwhile. `previous`: the capture before, of the same upper layer. */
export async function captureLayer(
  source: CaptureSource,
  destination: string,
  whiteouts: Whiteouts,
  previous?: Layer,
  limits: CaptureLimits = {},
): Promise<Layer> {
  mkdirSync(destination, { mode: 0o700 });
  const capture = new Capture(destination, whiteouts, previous, limits, source);
  using upper = Folder.open(source.upper, { unlock: !source.isCallers });
  using lower = source.lower === undefined ? undefined : Folder.open(source.lower, { unlock: true });
  using base = Folder.open(source.base);
  using merged = Folder.open(source.merged);
  using to = Folder.open(destination);
  using before = previous === undefined ? undefined : Folder.open(previous.path, { unlock: true });
  await capture.directory('', { upper, lower, base, merged, to, before, isWhole: false });
  chmodSync(to.base, upper.stats.mode & 0o7777);
  const { seen, covered, links, files, bytes, ownBytes } = capture;
  return { path: destination, seen, covered, links, files, bytes, ownBytes };
}

interface Place {
  readonly upper: Folder;
  readonly lower: Folder | undefined;
  readonly base: Folder | undefined;
  readonly merged: Folder | undefined;
  readonly to: Folder;
  readonly before: Folder | undefined;
  /** The upper directory replaces those below it. */
  readonly isWhole: boolean;
}

/** Of the clock that the kernel stamps files with: a later change within one tick leaves no trace. */
const tickMs = 20;
const fresh = ' fresh';
const blockBytes = 512;

/** Whether an entry has changed since its capture, by its path and its present state, or was there and is gone. */
export function differsFrom({ seen }: Pick<Layer, 'seen'>, path: string, stats: Stats | undefined): boolean {
  if (stats === undefined) return seen.has(path) || seen.has(`${path}/`);
  const key = seen.get(stats.isDirectory() ? `${path}/` : path);
  if (key === undefined || stats.isDirectory()) return key === undefined;
  return key !== keyOf(stats) && key !== `${keyOf(stats)}${fresh}`;
}

/** Whether an entry of the copy differs from its original, by size, time and mode. */
export function differsFromCopied(
  { seen }: Pick<Layer, 'seen'>,
  { path, change, before, after }: Difference,
): boolean {
  const side = after ?? before;
  const key = seen.get(side?.kind === 'directory' ? `${path}/` : path);
  if (change === 'removed') return key !== undefined;
  if (key === undefined || side === undefined || side.kind === 'directory') return true;
  const [, size, modifiedMs, , mode] = key.split(' ').map(Number);
  const isSame = side.kind === 'link' || (size === side.sizeBytes && ((mode ?? 0) & 0o7777) === side.mode);
  return !(isSame && Math.floor(modifiedMs ?? 0) === side.modifiedMs);
}

class Capture {
  readonly seen = new Map<string, string>();
  readonly covered = new Set<string>();
  files = 0;
  bytes = 0;
  ownBytes = 0;
  #entries = 0;
  readonly #destination: string;
  readonly #whiteouts: Whiteouts;
  readonly #previous: Layer | undefined;
  readonly #limits: CaptureLimits;
  readonly #pace: Pace;
  readonly #startedAt = Date.now();
  /** Files with several names, by inode. */
  readonly #linked = new Map<string, Buffer>();
  readonly #names = new Map<string, string[]>();
  readonly #mapped: ReadonlySet<number> | undefined;
  readonly #oneDevice: boolean;

  constructor(
    destination: string,
    whiteouts: Whiteouts,
    previous: Layer | undefined,
    limits: CaptureLimits,
    { mapped, oneDevice = false }: CaptureSource,
  ) {
    this.#oneDevice = oneDevice;
    this.#mapped = mapped === undefined ? new Set() : mapped();
    // As bytes, like all paths here.
    this.#destination = Buffer.from(destination).toString('latin1');
    this.#whiteouts = whiteouts;
    this.#previous = previous;
    this.#limits = limits;
    this.#pace = new Pace(limits.signal);
  }

  get links(): Links {
    return [...this.#names.values()].filter(({ length }) => length > 1);
  }

  async directory(path: string, place: Place): Promise<void> {
    const { upper, lower, base, to, isWhole } = place;
    const written = new Set<string>();
    for await (const name of upper.names(this.#pace)) {
      written.add(name);
      const stats = upper.stat(name);
      if (stats === undefined || this.#isForeign(stats, upper)) continue;
      const below = base?.stat(name);
      if (below !== undefined) this.covered.add(`${path}${name}`);
      if (isWhiteout(stats)) {
        if (below === undefined) this.#countEntry();
        else await this.#whiteouts.put(to, name);
      } else if (stats.isDirectory()) await this.#child(`${path}${name}/`, name, stats, place);
      else if (isCopied(stats)) await this.#entry(`${path}${name}`, name, stats, place);
      else if (below !== undefined) await this.#whiteouts.put(to, name);
    }
    if (isWhole) {
      for await (const name of base?.names(this.#pace) ?? [])
        if (!written.has(name)) await this.#whiteouts.put(to, name);
      return;
    }
    // Entries of a layer below that the cell left alone.
    for await (const name of lower?.names(this.#pace) ?? [])
      if (!written.has(name))
        await linkEntry(lower as Folder, name, to, {
          whiteouts: this.#whiteouts,
          pace: this.#pace,
          onFile: (stats) => this.#count(stats),
        });
  }

  async #child(path: string, name: string, stats: Stats, place: Place): Promise<void> {
    const below = place.isWhole ? undefined : place.lower?.stat(name);
    using upper = place.upper.child(name);
    if (upper === undefined) return;
    using base = place.base?.child(name);
    using lower = place.isWhole ? undefined : place.lower?.child(name);
    using merged = place.merged?.child(name);
    using before = place.before?.child(name);
    const mayMerge = !place.isWhole && (below === undefined ? base !== undefined : below.isDirectory());
    const isWhole = !mayMerge || (await replaces(upper, lower, base, merged, this.#pace));
    this.#countEntry();
    mkdirSync(place.to.at(name), { mode: 0o700 });
    this.seen.set(path, '');
    using to = place.to.child(name) as Folder;
    await this.directory(path, {
      upper,
      lower: isWhole ? undefined : lower,
      base,
      merged,
      to,
      before,
      isWhole,
    });
    settle(to, stats);
  }

  async #entry(path: string, name: string, stats: Stats, place: Place): Promise<void> {
    const { upper, to, before } = place;
    const key = keyOf(stats);
    const inode = `${stats.dev}:${stats.ino}`;
    const isSettled = stats.ctimeMs < this.#startedAt - tickMs && !this.#isMapped(name, stats, place);
    this.seen.set(path, isSettled ? key : `${key}${fresh}`);
    if (stats.nlink > 1 && stats.isFile()) this.#addName(inode, path);
    if (stats.nlink > 1 && stats.isFile() && this.#linkAgain(inode, to.at(name))) {
      this.#countEntry();
      return;
    }
    this.#count(stats);
    if (
      before !== undefined &&
      (await this.#isCaptured(path, key, isSettled, { folder: upper, name, stats }, before))
    )
      linkSync(before.at(name), to.at(name));
    else {
      this.ownBytes += spaceOf(stats);
      await copyEntry(upper, name, stats, to);
    }
    if (stats.nlink > 1) this.#linked.set(inode, Buffer.from(`${this.#destination}/${path}`, 'latin1'));
  }

  /** Where the times of a file do not tell whether it changed, its content does: a second copy would take space. */
  async #isCaptured(
    path: string,
    key: string,
    isSettled: boolean,
    { folder, name, stats }: Found,
    before: Folder,
  ): Promise<boolean> {
    const seen = this.#previous?.seen.get(path);
    if (isSettled && seen === key) return true;
    const captured = before.stat(name);
    if (captured === undefined || (seen !== key && seen !== `${key}${fresh}`)) return false;
    const { signal } = this.#limits;
    return isSameEntry({ folder, name, stats }, { folder: before, name, stats: captured }, { signal });
  }

  #addName(inode: string, path: string): void {
    const names = this.#names.get(inode);
    if (names === undefined) this.#names.set(inode, [path]);
    else names.push(path);
  }

  #isForeign({ dev }: Stats, upper: Folder): boolean {
    return this.#oneDevice && dev !== upper.stats.dev;
  }

  /** An overlay may number a file as the layer does that it came from. */
  #isMapped(name: string, { ino }: Stats, { base, merged }: Place): boolean {
    if (this.#mapped === undefined) return true;
    if (this.#mapped.size === 0) return false;
    const inodes = [ino, base?.stat(name)?.ino, merged?.stat(name)?.ino];
    return inodes.some((inode) => inode !== undefined && this.#mapped?.has(inode));
  }

  /** False when the first name is out of reach, by its length or by the mode of a directory. */
  #linkAgain(inode: string, target: Buffer): boolean {
    const first = this.#linked.get(inode);
    if (first === undefined) return false;
    try {
      linkSync(first, target);
      return true;
    } catch {
      return false;
    }
  }

  #count(stats: Stats): void {
    this.files++;
    this.#countEntry();
    this.bytes += spaceOf(stats);
    const { maxBytes } = this.#limits;
    if (maxBytes !== undefined && this.bytes > maxBytes) throw overLimit('bytes', maxBytes);
  }

  /** Names and directories take space on a disk, too. */
  #countEntry(): void {
    const { maxFiles } = this.#limits;
    if (maxFiles !== undefined && ++this.#entries > maxFiles) throw overLimit('files', maxFiles);
  }
}

/** Holes take none. */
function spaceOf({ size, blocks }: Stats): number {
  return Math.min(size, blocks * blockBytes);
}

/** Whether an upper directory hides those below: then the cell sees none of the names that only they have. */
async function replaces(
  upper: Folder,
  lower: Folder | undefined,
  base: Folder | undefined,
  merged: Folder | undefined,
  pace: Pace,
): Promise<boolean> {
  let isHidden = false;
  for (const [folder, over] of [[lower], [base, lower]] as const) {
    for await (const name of namesBelow(folder, [upper, over], pace)) {
      if (merged?.stat(name) !== undefined) return false;
      isHidden = true;
    }
  }
  // The kernel may remember that a name was not there, for longer than that is true. A list always tells.
  if (!isHidden) return false;
  for await (const name of merged?.names(pace) ?? []) if (upper.stat(name) === undefined) return false;
  return true;
}

/** Those that the layers over it say nothing about. Its reader stops early: a directory of the base may be large. */
async function* namesBelow(
  folder: Folder | undefined,
  over: readonly (Folder | undefined)[],
  pace: Pace,
): AsyncGenerator<string> {
  for await (const name of folder?.names(pace) ?? []) {
    if (over.some((layer) => layer?.stat(name) !== undefined)) continue;
    const stats = folder?.stat(name);
    if (stats !== undefined && !isWhiteout(stats)) yield name;
  }
}

function keyOf({ ino, size, mtimeMs, ctimeMs, mode }: Stats): string {
  return `${ino} ${size} ${mtimeMs} ${ctimeMs} ${mode}`;
}

export function overLimit(what: 'bytes' | 'files', limit: number): WorkcellError {
  return new WorkcellError(
    'file-too-large',
    `The changes in the workspace are more than ${limit} ${what}, the limit of a checkpoint. Remove what is not needed, or set a higher limit.`,
    { details: { what, limit } },
  );
}
