import { realpathSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

export interface PlaceOptions {
  /** The directory that paths start at and do not leave. Default: the working directory. */
  readonly root?: string;
}

/** Resolves paths below a root. In a runtime the cell isolates; here it keeps a mistaken path from doing harm. */
export function createPlace({ root = process.cwd() }: PlaceOptions = {}) {
  const base = realpathSync(root);
  return {
    base,
    resolve(path: string): string {
      const target = realOf(resolve(base, path));
      const way = relative(base, target);
      if (way === '..' || way.startsWith(`..${sep}`)) throw new Error(`${path} is outside of ${base}.`);
      return target;
    },
  };
}

/** Where a path leads, or would lead once it exists. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realOf(parent), path.slice(parent.length));
  }
}
