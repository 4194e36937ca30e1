/** What a workspace holds at one moment: a layer over a base, read without mounting anything. */
import type { Stats } from 'node:fs';
import { Folder, isWhiteout } from './layer-folder.js';

export interface View {
  /** The layer; without one, the base alone. */
  readonly layer?: string | undefined;
  readonly base: string;
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
    const below = Folder.open(base);
    try {
      return new ViewFolder(layer === undefined ? undefined : Folder.open(layer, { unlock: true }), below);
    } catch (error) {
      below[Symbol.dispose]();
      throw error;
    }
  }

  find(name: string): Found | undefined {
    const own = this.layer?.stat(name);
    if (own !== undefined)
      return isWhiteout(own) ? undefined : { folder: this.layer as Folder, name, stats: own };
    const stats = this.base?.stat(name);
    return stats === undefined ? undefined : { folder: this.base as Folder, name, stats };
  }

  /** The directory of that name; undefined when there is none. */
  child(name: string): ViewFolder | undefined {
    const own = this.layer?.stat(name);
    if (own !== undefined && !own.isDirectory()) return undefined;
    const layer = own === undefined ? undefined : this.layer?.child(name);
    const base = this.base?.child(name);
    return layer === undefined && base === undefined ? undefined : new ViewFolder(layer, base);
  }

  names(): Set<string> {
    const all = new Set([...(this.base?.names() ?? []), ...(this.layer?.names() ?? [])]);
    for (const name of this.layer?.names() ?? []) if (this.find(name) === undefined) all.delete(name);
    return all;
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
