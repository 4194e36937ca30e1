/** What goes into an archive: everything below a directory, or one file. */
import { constants, lstatSync, readlinkSync, type Stats } from 'node:fs';
import { Pace } from '../../../../base/pace.js';
import { readPieces } from '../bytes.js';
import { at, type Directory, type Name, type OpenFile } from '../directory.js';
import { isErrno, problem, quote } from '../file-errors.js';
import type { Tree } from '../file-tree.js';
import { closeFile } from '../free-space.js';
import { mostNames } from '../read-entries.js';
import { maxDepth, visit } from '../visit.js';

export type Member =
  | { readonly type: 'directory'; readonly name: string; readonly stats: Stats }
  | { readonly type: 'link'; readonly name: string; readonly stats: Stats; readonly target: string }
  | {
      readonly type: 'file';
      readonly name: string;
      readonly stats: Stats;
      /** Exactly as many bytes as `stats` says, even if the file changes meanwhile. Read before the next member. */
      readonly content: () => AsyncGenerator<Uint8Array>;
    };

/** Skips pipes, sockets and devices. Names are relative to the path. */
export async function* members(
  tree: Tree,
  path: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<Member> {
  using place = tree.resolve(path, { follow: true });
  if (place.stats !== undefined && !place.stats.isDirectory()) {
    yield* memberAt(place.directory, place.name, place.name, signal);
    return;
  }
  const pace = new Pace(signal);
  const directory = place.directory.open(place.name);
  const replaced = new Set<string>();
  try {
    for (const found of visit(directory, { depth: maxDepth, onPartial: tooMany })) {
      await pace.step();
      if (found?.relativePath.includes(replacement)) {
        if (replaced.has(found.relativePath)) throw sameName(found.relativePath);
        replaced.add(found.relativePath);
      }
      if (found !== undefined) yield* memberAt(found.directory, found.entry.name, found.relativePath, signal);
    }
  } finally {
    directory.close();
  }
}

/** What stands for bytes that are not UTF-8. */
const replacement = '\ufffd';

/** Unpacking the archive would produce only one of the two. */
function sameName(path: string): Error {
  return problem(
    'archive-refused',
    `Two names are both ${quote(path)} when their bytes that are not UTF-8 are replaced. Rename one, or pack parts.`,
    path,
  );
}

/** An incomplete archive must not pass for a complete one. */
function tooMany(path: string): never {
  throw problem(
    'file-too-large',
    `The directory ${quote(path)} has more than ${mostNames} names, which is more than is packed. Pack parts of it.`,
    path,
  );
}

/** One member, or none. A file stays open until the caller takes the next member. */
function* memberAt(
  parent: Directory,
  entry: Name,
  name: string,
  signal: AbortSignal | undefined,
): Generator<Member, void> {
  const found = ignoreVanished(() => look(parent, entry));
  if (found === undefined) return;
  if ('target' in found) yield { type: 'link', name, ...found };
  else if (!('fd' in found)) yield { type: 'directory', name, ...found };
  else {
    const { fd, stats } = found;
    try {
      yield { type: 'file', name, stats, content: () => readExactly(fd, stats.size, signal) };
    } finally {
      closeFile(fd);
    }
  }
}

function look(
  parent: Directory,
  entry: Name,
): OpenFile | { stats: Stats } | { stats: Stats; target: string } | undefined {
  const stats = lstatSync(at(parent, entry));
  if (stats.isDirectory()) return { stats };
  if (stats.isSymbolicLink()) return { stats, target: readlinkSync(at(parent, entry), 'utf8') };
  return stats.isFile() ? parent.openFile(entry, constants.O_RDONLY) : undefined;
}

/** Skips an entry that somebody removed or replaced after we read its directory. */
function ignoreVanished<T>(operation: () => T): T | undefined {
  try {
    return operation();
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'EINVAL', 'EISDIR', 'ENXIO', 'SWAPPED')) return undefined;
    throw error;
  }
}

async function* readExactly(
  fd: number,
  size: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  let missing = size;
  for await (const piece of readPieces(fd, { end: size, signal })) {
    missing -= piece.length;
    yield piece;
  }
  // Fill a file that shrank with zeros, as tar programs do: its size is already in the archive.
  const pace = new Pace(signal);
  for (; missing > 0; missing -= 65_536) {
    await pace.step();
    yield Buffer.alloc(Math.min(missing, 65_536));
  }
}
