/** A directory of microagents, in the cell or on this machine. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { WorkcellError } from '../../protocol/index.js';
import type { Call } from '../verb-call.js';

const largestFile = 256 * 1024;
const mostFiles = 500;
const deepest = 8;

/** Read-only access to one directory. */
export interface Folder {
  readonly path: string;
  /** Paths of all files below, in order; none where there is no directory. */
  list(below: string, depth?: number): Promise<string[]>;
  /** The text of a file; undefined where there is none. Throws for one that is too large or no text. */
  read(path: string): Promise<string | undefined>;
}

export function cellFolder(call: Call, path: string): Folder {
  return {
    path,
    async list(below, depth = deepest) {
      const root = below === '' ? path : `${path}/${below}`;
      const found = await unlessMissing(call.execute({ action: 'list', path: root, depth, limit: 10_000 }));
      return (found?.entries ?? [])
        .filter(({ type }) => type === 'file' || type === 'symlink')
        .map((entry) => entry.path.slice(found?.path === '/' ? 1 : (found?.path.length ?? 0) + 1))
        .slice(0, mostFiles);
    },
    async read(name) {
      const found = await unlessMissing(
        call.execute({ action: 'read', path: `${path}/${name}`, encoding: 'utf8', maxBytes: largestFile }),
      );
      return found?.content;
    },
  };
}

/** A directory of the user's own, outside of every cell. */
export function hostFolder(path: string): Folder {
  return {
    path,
    async list(below) {
      const root = join(path, below);
      const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
      return entries
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
        .sort()
        .slice(0, mostFiles);
    },
    async read(name) {
      const { size } = await stat(join(path, name));
      if (size > largestFile) throw new Error(`It is larger than ${largestFile} bytes.`);
      return readFile(join(path, name), 'utf8');
    },
  };
}

async function unlessMissing<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work;
  } catch (error) {
    if (WorkcellError.isInstance(error) && ['not-found', 'not-a-directory'].includes(error.code))
      return undefined;
    throw error;
  }
}
