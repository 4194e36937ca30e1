/** What a workspace holds at one moment: a layer over a base, read without mounting anything. */
import type { Stats } from 'node:fs';
import type { Pace } from '../../base/pace.js';
import { Folder, isCopied } from './layer-folder.js';

export interface View {
  /** The layer; without one, the base alone. */
  readonly layer?: string | undefined;
  /** Without one, the layer alone. */
  readonly base?: string | undefined;
}

/** An entry, and the directory that holds it. */
export interface Found {
  readonly folder: Folder;
  readonly name: string;
  readonly stats: Stats;
}

export class ViewFolder implements Disposable {
  readonly layer: Folder | undefined;
  readonly base: Folder | undefined;

  private constructor(layer: Folder | undefined, base: Folder | undefined) {
    this.layer = layer;
    this.base = base;
  }

  static open({ layer, base }: View): ViewFolder {
    const below = base === undefined ? undefined : Folder.open(base);
    try {
      return new ViewFolder(layer === undefined ? undefined : Folder.open(layer, { unlock: true }), below);
    } catch (error) {
      below?.[Symbol.dispose]();
      throw error;
    }
  }

  find(name: string): Found | undefined {
    const own = this.layer?.stat(name);
    const stats = own ?? this.base?.stat(name);
    if (stats === undefined || !(isCopied(stats) || stats.isDirectory())) return undefined;
    return { folder: (own === undefined ? this.base : this.layer) as Folder, name, stats };
  }

  /** The directory of that name; undefined when there is none. */
  child(name: string): ViewFolder | undefined {
    const own = this.layer?.stat(name);
    if (own !== undefined && !own.isDirectory()) return undefined;
    const layer = own === undefined ? undefined : this.layer?.child(name);
    const base = this.base?.child(name);
    return layer === undefined && base === undefined ? undefined : new ViewFolder(layer, base);
  }

  async names(pace: Pace): Promise<string[]> {
    const all = new Set<string>();
    for (const folder of [this.layer, this.base])
      for await (const name of folder?.names(pace) ?? []) if (this.find(name) !== undefined) all.add(name);
    return [...all];
  }

  [Symbol.dispose](): void {
    this.layer?.[Symbol.dispose]();
    this.base?.[Symbol.dispose]();
  }
}

/** Calls `use` with an entry by its path; with undefined when there is none. */
export async function withEntry<T>(
  root: ViewFolder,
  path: string,
  use: (found: Found | undefined) => T | Promise<T>,
): Promise<T> {
  const names = path.split('/');
  const last = names.pop() ?? '';
  const opened: ViewFolder[] = [];
  try {
    let folder: ViewFolder | undefined = root;
    for (const name of names) {
      folder = folder.child(name);
      if (folder === undefined) break;
      opened.push(folder);
    }
    return await use(folder?.find(last));
  } finally {
    for (const folder of opened.reverse()) folder[Symbol.dispose]();
  }
}
