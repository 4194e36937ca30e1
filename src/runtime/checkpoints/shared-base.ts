/**
 * Keeps layers true while this program writes to the directory below them. A layer says only what differs from that directory,
 * so before an entry there changes, each layer over it that says nothing about the entry gets the old one.
 */
import { linkSync, mkdirSync, mkdtempSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { Pace } from '../../base/pace.js';
import { discardTree } from '../../base/remove-tree.js';
import type { Difference } from './compare.js';
import { copyEntry } from './copy-entry.js';
import { Folder, isCopied } from './layer-folder.js';
import type { HeldLayer } from './layer-store.js';
import { settle } from './link-entry.js';
import { type PathTree, treeOf } from './path-tree.js';
import type { Whiteouts } from './whiteouts.js';

const layersOver = new Map<string, Set<HeldLayer>>();

/** `base`: the directory that the layer says the differences from, without links. Returns what forgets the layer. */
export function watchBase(base: string, layer: HeldLayer): () => void {
  const layers = layersOver.get(base) ?? new Set();
  layersOver.set(base, layers.add(layer));
  return () => {
    layers.delete(layer);
    if (layers.size === 0) layersOver.delete(base);
  };
}

const reading = new Set<Promise<unknown>>();
let writing: Promise<unknown> | undefined;

/** Calls `work`, which makes or reads layers, while this program writes to no base. It must not wait for an action of a cell. */
export async function withBases<T>(work: () => Promise<T>): Promise<T> {
  while (writing !== undefined) await writing;
  const result = work();
  const ended = result.then(
    () => {},
    () => {},
  );
  reading.add(ended);
  return result.finally(() => reading.delete(ended));
}

/**
 * Calls `work`, which may write to a directory after it called `preserve` with what it will write. Where that is part of a
 * base, nobody makes or reads layers meanwhile.
 */
export async function writingTo<T>(
  target: string,
  work: (preserve: (writes: readonly Difference[]) => Promise<void>) => Promise<T>,
): Promise<T> {
  while (writing !== undefined) await writing;
  const isPart = [...layersOver.keys()].some((base) => isWithin(base, target) || isWithin(target, base));
  if (!isPart) return withBases(() => work(async () => {}));
  const result = Promise.all(reading).then(() => work((writes) => preserve(target, writes)));
  writing = result.then(
    () => {},
    () => {},
  );
  return result.finally(() => {
    writing = undefined;
  });
}

function isWithin(path: string, directory: string): boolean {
  return `${path}/`.startsWith(directory === '/' ? '/' : `${directory}/`);
}

async function preserve(target: string, writes: readonly Difference[]): Promise<void> {
  for (const [base, layers] of layersOver) {
    const paths = writes.flatMap(({ path }) => pathBelow(base, target, path) ?? []);
    if (paths.length > 0) await preserveIn(base, [...layers], paths);
  }
}

/** All paths here are Latin-1. */
function pathBelow(base: string, target: string, path: string): string | undefined {
  const [above, below] = [base, target].map((text) => Buffer.from(text).toString('latin1')) as [
    string,
    string,
  ];
  const whole = `${below}/${path}`;
  return whole.startsWith(`${above}/`) ? whole.slice(above.length + 1) : undefined;
}

async function preserveIn(
  base: string,
  layers: readonly HeldLayer[],
  paths: readonly string[],
): Promise<void> {
  for (const layer of layers) layer.hold();
  const room = mkdtempSync(join(dirname((layers[0] as HeldLayer).layer.path), 'saved-'));
  try {
    using saved = Folder.open(room);
    using from = Folder.open(base);
    const old = new OldEntries(saved);
    await old.save(from, treeOf(paths));
    for (const layer of layers) {
      using to = Folder.open(await layer.writable(), { unlock: true });
      await old.put(to, old.root, layer.whiteouts);
    }
  } finally {
    for (const layer of layers) layer.release();
    await discardTree(room);
  }
}

interface Old {
  /** Undefined: there was none. */
  readonly stats?: Stats | undefined;
  /** The copy of what is no directory. */
  readonly saved?: string | undefined;
  readonly inner: ReadonlyMap<string, Old>;
}

class OldEntries {
  root: ReadonlyMap<string, Old> = new Map();
  readonly #saved: Folder;
  readonly #pace = new Pace(undefined);
  #count = 0;

  constructor(saved: Folder) {
    this.#saved = saved;
  }

  async save(from: Folder, tree: PathTree): Promise<void> {
    this.root = await this.#read(from, tree);
  }

  /** Says it in a directory of a layer where that says nothing yet. */
  async put(to: Folder, entries: ReadonlyMap<string, Old>, whiteouts: Whiteouts): Promise<void> {
    for (const [name, { stats, saved, inner }] of entries) {
      await this.#pace.step();
      const own = to.stat(name);
      if (own === undefined) {
        if (stats === undefined) await whiteouts.put(to, name);
        else if (saved !== undefined) linkSync(this.#saved.at(saved), to.at(name));
        else mkdirSync(to.at(name), { mode: 0o700 });
      }
      const kept = own ?? stats;
      if (!kept?.isDirectory()) continue;
      using directory = to.child(name) as Folder;
      await this.put(directory, inner, whiteouts);
      settle(directory, kept);
    }
  }

  async #read(from: Folder | undefined, tree: PathTree): Promise<ReadonlyMap<string, Old>> {
    const found = new Map<string, Old>();
    for (const [name, inner] of tree) {
      await this.#pace.step();
      found.set(name, await this.#entry(from, name, inner));
    }
    return found;
  }

  async #entry(from: Folder | undefined, name: string, tree: PathTree): Promise<Old> {
    const stats = from?.stat(name);
    if (stats?.isDirectory()) {
      using inner = from?.child(name);
      return { stats, inner: await this.#read(inner, tree) };
    }
    const inner = await this.#read(undefined, tree);
    if (from === undefined || stats === undefined || !isCopied(stats)) return { inner };
    const saved = String(this.#count++);
    await copyEntry(from, name, stats, this.#saved, saved);
    return { stats, saved, inner };
  }
}
