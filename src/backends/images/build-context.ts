/** What an engine builds from: a Dockerfile and the files it copies, as a tar stream that is the same for the same contents. */
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Pack, pack } from 'tar-stream';

/** Files of this machine, by their place in the context. */
export type ContextFiles = ReadonlyMap<string, string>;

export function packContext(dockerfile: string, files: ContextFiles): Readable {
  const archive = pack();
  feed(archive, dockerfile, files).then(
    () => archive.finalize(),
    (error: unknown) => archive.destroy(error instanceof Error ? error : new Error(String(error))),
  );
  return archive as unknown as Readable;
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

async function feed(archive: Pack, dockerfile: string, files: ContextFiles): Promise<void> {
  archive.entry({ name: 'Dockerfile', mode: 0o644, mtime: new Date(0) }, dockerfile);
  for (const [name, path] of files) {
    const { size, mode } = await stat(path);
    const entry = archive.entry({ name, size, mode: mode & 0o777, mtime: new Date(0) });
    await pipeline(createReadStream(path), entry as unknown as NodeJS.WritableStream);
  }
}
