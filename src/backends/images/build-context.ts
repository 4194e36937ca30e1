/** What an engine builds from: a Dockerfile and the files it copies, as a tar stream that is the same for the same contents. */
import { createReadStream } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type TarMember, writeTar } from '../../base/tar-writer.js';

/** Files of this machine, by their place in the context. */
export type ContextFiles = ReadonlyMap<string, string>;

export function packContext(dockerfile: string, files: ContextFiles): Readable {
  return Readable.from(writeTar(members(dockerfile, files)), { objectMode: false });
}

/** All files below a directory, by their place below `into`. */
export async function filesBelow(directory: string, into: string): Promise<[string, string][]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => [`${into}${path.slice(directory.length)}`, path]);
}

async function* members(dockerfile: string, files: ContextFiles): AsyncGenerator<TarMember> {
  const mtime = new Date(0);
  const text = Buffer.from(dockerfile);
  yield { name: 'Dockerfile', mode: 0o644, mtime, size: text.length, content: [text] };
  for (const [name, path] of files) {
    const stats = await lstat(path);
    const mode = stats.mode & 0o777;
    if (stats.isSymbolicLink()) yield { name, type: 'symlink', mode, mtime, linkname: await readlink(path) };
    else yield { name, size: stats.size, mode, mtime, content: createReadStream(path) };
  }
}
