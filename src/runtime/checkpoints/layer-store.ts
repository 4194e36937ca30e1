/** Holds the layers of one runtime, each for as long as a checkpoint or a cell needs it. */
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Pace } from '../../base/pace.js';
import { discardTree } from '../../base/remove-tree.js';
import { type CaptureLimits, type CaptureSource, captureLayer, type Layer } from './capture.js';
import { Folder, isWhiteout } from './layer-folder.js';
import { linkEntry, settle } from './link-entry.js';
import { watchBase } from './shared-base.js';
import { Whiteouts } from './whiteouts.js';

/** Removes it when nobody holds it any more. */
export class HeldLayer {
  readonly whiteouts: Whiteouts;
  /** Layers of other directories at the same moment, by name. They go with this one. */
  readonly others = new Map<string, HeldLayer>();
  readonly #onFree: (paths: readonly string[]) => void;
  readonly #paths: string[];
  #layer: Layer;
  #holders = 1;
  #isMounted = false;

  constructor(layer: Layer, whiteouts: Whiteouts, onFree: (paths: readonly string[]) => void) {
    this.#layer = layer;
    this.#paths = [layer.path];
    this.whiteouts = whiteouts;
    this.#onFree = onFree;
  }

  get layer(): Layer {
    return this.#layer;
  }

  hold(): this {
    this.#holders++;
    return this;
  }

  release(): void {
    if (--this.#holders !== 0) return;
    for (const other of this.others.values()) other.release();
    this.#onFree(this.#paths);
  }

  /** The path of the layer, for a cell to mount over the base. What is there stays as it is. */
  async mount(base: string): Promise<string> {
    if (await this.#hasStrays(base)) {
      const path = await this.writable();
      await eachStray(path, base, (folder, name) => rmSync(folder.at(name), { force: true }));
    }
    this.#isMounted = true;
    return this.#layer.path;
  }

  async #hasStrays(base: string): Promise<boolean> {
    let found = false;
    await eachStray(this.#layer.path, base, () => {
      found = true;
    });
    return found;
  }

  /** The path of the layer, to add to it. Where a cell has mounted it, the layer becomes a copy, which nobody has. */
  async writable(): Promise<string> {
    if (this.#isMounted) {
      const path = `${this.#layer.path}-own`;
      this.#paths.push(path);
      await linkLayer(this.#layer.path, path, this.whiteouts);
      this.#layer = { ...this.#layer, path };
      this.#isMounted = false;
    }
    return this.#layer.path;
  }
}

/**
 * The whiteouts in directories that the base does not have, or has no more. They hide nothing, and the kernel shows their names
 * where it has a directory from one layer alone.
 */
async function eachStray(
  path: string,
  base: string,
  use: (folder: Folder, name: string) => void,
): Promise<void> {
  using layer = Folder.open(path, { unlock: true });
  using below = Folder.open(base);
  await eachStrayIn(layer, below, new Pace(undefined), use);
}

async function eachStrayIn(
  layer: Folder,
  base: Folder | undefined,
  pace: Pace,
  use: (folder: Folder, name: string) => void,
): Promise<void> {
  for await (const name of layer.names(pace)) {
    const stats = layer.stat(name);
    if (stats === undefined) continue;
    if (base === undefined && isWhiteout(stats)) use(layer, name);
    if (!stats.isDirectory()) continue;
    using inner = layer.child(name) as Folder;
    using below = base?.child(name);
    await eachStrayIn(inner, below, pace, use);
  }
}

async function linkLayer(path: string, copy: string, whiteouts: Whiteouts): Promise<void> {
  mkdirSync(copy, { mode: 0o700 });
  using from = Folder.open(path, { unlock: true });
  using to = Folder.open(copy);
  const options = { whiteouts, pace: new Pace(undefined) };
  for await (const name of from.names(options.pace)) await linkEntry(from, name, to, options);
  settle(to, from.stats);
}

/** The same where another file system may have it: files are shared where they can be. */
export async function copyLayer(path: string, copy: string, whiteouts: Whiteouts): Promise<void> {
  try {
    if (statSync(path).dev === statSync(dirname(copy)).dev) await linkLayer(path, copy, whiteouts);
    else await captureLayer({ upper: path, base: path, merged: path }, copy, whiteouts);
  } catch (error) {
    await discardTree(copy);
    throw error;
  }
}

export class LayerStore {
  readonly #directory: string;
  readonly #whiteouts: Whiteouts;
  readonly #removing = new Set<Promise<void>>();
  #count: number;
  #live = 0;
  #isClosed = false;

  /**
   * `directory`: on the file system of the upper layer, and removed when all is over. Layers get the names `layer-` and a
   * number, from `first` on.
   */
  constructor(directory: string, first = 0) {
    this.#directory = directory;
    this.#count = first;
    this.#whiteouts = new Whiteouts(directory);
  }

  async capture(source: CaptureSource, previous?: Layer, limits?: CaptureLimits): Promise<HeldLayer> {
    const path = join(this.#directory, `layer-${this.#count++}`);
    this.#live++;
    try {
      const layer = await captureLayer(source, path, this.#whiteouts, previous, limits);
      const held = new HeldLayer(layer, this.#whiteouts, (paths) => {
        forget();
        this.#free(...paths);
      });
      const forget = watchBase(source.base, held);
      return held;
    } catch (error) {
      this.#free(path);
      throw error;
    }
  }

  /** One of its directory, from an earlier time. */
  open(layer: Layer): HeldLayer {
    this.#live++;
    return new HeldLayer(layer, this.#whiteouts, (paths) => this.#free(...paths));
  }

  /** A layer of another store, as one of this. */
  async take({ layer, whiteouts }: HeldLayer): Promise<HeldLayer> {
    const path = join(this.#directory, `layer-${this.#count++}`);
    await copyLayer(layer.path, path, whiteouts);
    return this.open({ ...layer, path, seen: new Map() });
  }

  /**
   * Settles after removing everything that nobody holds. Layers that forks hold stay until those end. `keeps`: the directory
   * is for others, with what is in it.
   */
  async close({ keeps = false }: { readonly keeps?: boolean } = {}): Promise<void> {
    this.#isClosed = !keeps;
    this.#sweep();
    await Promise.all(this.#removing);
  }

  #free(...paths: readonly string[]): void {
    this.#live--;
    for (const path of paths) this.#remove(path);
    this.#sweep();
  }

  #sweep(): void {
    if (this.#isClosed && this.#live === 0) this.#remove(this.#directory);
  }

  #remove(path: string): void {
    const removing = discardTree(path).finally(() => this.#removing.delete(removing));
    this.#removing.add(removing);
  }
}
