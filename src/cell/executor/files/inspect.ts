/** What files are: their type, size, permission bits and age. */
import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { Pace, walkMs } from '../../../base/pace.js';
import type { FileEntry, Observation } from '../../../protocol/index.js';
import { at, type Directory, type Name } from './directory.js';
import { explained, isErrno, refusal } from './file-errors.js';
import type { Tree } from './file-tree.js';
import { joinInside } from './paths.js';
import { visit } from './visit.js';

export function inspect(tree: Tree, path: string): Omit<FileEntry, 'name'> {
  return explained('inspect', path, () => {
    using place = tree.resolve(path, { follow: false });
    const described = describe(place.directory, place.name);
    if (described === undefined) throw refusal('ENOENT');
    return { path: place.path, ...described };
  });
}

export function listDirectory(
  tree: Tree,
  path: string,
  options: { depth: number; limit: number; signal?: AbortSignal | undefined },
): Promise<Omit<Observation<'list'>, 'observation'>> {
  return explained('list', path, async () => {
    using opened = tree.openDirectory(path);
    const pace = new Pace(options.signal, walkMs);
    const entries: FileEntry[] = [];
    let isPartial = false;
    const onPartial = () => {
      isPartial = true;
    };
    for (const found of visit(opened.directory, { depth: options.depth, onPartial })) {
      await pace.step();
      if (pace.isOver) return { path: opened.path, entries, truncated: true };
      if (found === undefined) continue;
      const { directory, entry, relativePath } = found;
      if (entries.length >= options.limit) return { path: opened.path, entries, truncated: true };
      const described = describe(directory, entry.name);
      if (described === undefined) continue;
      entries.push({ name: entry.text, path: joinInside(opened.path, relativePath), ...described });
    }
    return { path: opened.path, entries, truncated: isPartial };
  });
}

/** Undefined when nothing has the name. */
function describe(directory: Directory, name: Name): Omit<FileEntry, 'name' | 'path'> | undefined {
  const stats = lstatSync(at(directory, name), { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  return {
    type: typeOf(stats),
    sizeBytes: stats.size,
    mode: stats.mode & 0o7777,
    modifiedAt: stats.mtimeMs,
    ...(stats.isSymbolicLink() ? targetOf(directory, name) : {}),
  };
}

function targetOf(directory: Directory, name: Name): { target?: string } {
  try {
    return { target: readlinkSync(at(directory, name), 'utf8') };
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'EINVAL')) return {};
    throw error;
  }
}

function typeOf(stats: Stats): FileEntry['type'] {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'directory';
  if (stats.isSymbolicLink()) return 'symlink';
  if (stats.isFIFO()) return 'fifo';
  return stats.isSocket() ? 'socket' : 'device';
}
