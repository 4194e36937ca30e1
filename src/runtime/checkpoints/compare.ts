/** Finds what differs between two views, in time proportional to the difference where they share their base. */
import { Pace } from '../../base/pace.js';
import { byBytes } from './layer-folder.js';
import { type CompareOptions, type EntryKind, isSameEntry, kindOf } from './same-entry.js';
import { type Found, type View, ViewFolder } from './workspace-view.js';

interface Side {
  readonly kind: EntryKind;
  readonly mode: number;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

/** The difference of an entry; a directory that becomes a file counts as removed and added. */
export interface Difference {
  /** In Latin-1, as all names here. */
  readonly path: string;
  readonly change: 'added' | 'changed' | 'removed';
  readonly before?: Side | undefined;
  readonly after?: Side | undefined;
}

/** In an order to apply them in: a directory comes before what is in it. */
export async function compareViews(
  before: View,
  after: View,
  options: CompareOptions = {},
): Promise<Difference[]> {
  using one = ViewFolder.open(before);
  using other = ViewFolder.open(after);
  const comparison = new Comparison(before.base === after.base, options);
  await comparison.directories('', one, other);
  return comparison.found;
}

class Comparison {
  readonly found: Difference[] = [];
  readonly #sharesBase: boolean;
  readonly #options: CompareOptions;
  readonly #pace: Pace;

  constructor(sharesBase: boolean, options: CompareOptions) {
    this.#pace = new Pace(options.signal);
    this.#sharesBase = sharesBase;
    this.#options = options;
  }

  async directories(path: string, one: ViewFolder, other: ViewFolder): Promise<void> {
    for (const name of await this.#candidates(one, other)) {
      await this.#pace.step();
      await this.#entries(`${path}${name}`, name, one, other);
    }
  }

  /** Where both show the same directory of the base, only what a layer says can differ. */
  async #candidates(one: ViewFolder, other: ViewFolder): Promise<string[]> {
    const sees = one.base !== undefined && other.base !== undefined;
    const isShared = this.#sharesBase && sees;
    const names = new Set<string>();
    for (const { layer, base } of [one, other])
      for (const folder of isShared ? [layer] : [layer, base])
        for await (const name of folder?.names(this.#pace) ?? []) names.add(name);
    return [...names].sort(byBytes);
  }

  async #entries(path: string, name: string, one: ViewFolder, other: ViewFolder): Promise<void> {
    const before = one.find(name);
    const after = other.find(name);
    const [was, is] = [before?.stats.isDirectory(), after?.stats.isDirectory()];
    if (before === undefined && after === undefined) return;
    if (before !== undefined && after !== undefined && was === is) {
      if (!was) {
        if (!(await isSameEntry(before, after, this.#options))) this.#add(path, before, after);
        return;
      }
      if ((before.stats.mode & 0o7777) !== (after.stats.mode & 0o7777)) this.#add(path, before, after);
      using first = one.child(name);
      using second = other.child(name);
      if (first !== undefined && second !== undefined) await this.directories(`${path}/`, first, second);
      return;
    }
    if (before !== undefined)
      await this.#whole(path, name, one, (entry, at) => this.#add(at, entry, undefined));
    if (after !== undefined)
      await this.#whole(path, name, other, (entry, at) => this.#add(at, undefined, entry));
  }

  async #whole(
    path: string,
    name: string,
    parent: ViewFolder,
    add: (entry: Found, path: string) => void,
  ): Promise<void> {
    await this.#pace.step();
    const entry = parent.find(name);
    if (entry === undefined) return;
    add(entry, path);
    if (!entry.stats.isDirectory()) return;
    using folder = parent.child(name);
    if (folder === undefined) return;
    for (const inner of (await folder.names(this.#pace)).sort(byBytes))
      await this.#whole(`${path}/${inner}`, inner, folder, add);
  }

  #add(path: string, before: Found | undefined, after: Found | undefined): void {
    this.found.push({
      path,
      change: before === undefined ? 'added' : after === undefined ? 'removed' : 'changed',
      before: sideOf(before),
      after: sideOf(after),
    });
  }
}

function sideOf(found: Found | undefined): Side | undefined {
  if (found === undefined) return undefined;
  const { stats } = found;
  const { size, mode, mtimeMs } = stats;
  return {
    kind: kindOf(stats),
    mode: mode & 0o7777,
    sizeBytes: stats.isFile() ? size : 0,
    modifiedMs: Math.floor(mtimeMs),
  };
}
