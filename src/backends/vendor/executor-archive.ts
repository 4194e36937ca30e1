/** The executor as one archive for a vendor's sandbox: with a Node of its own, or for the one that is there. */
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type TarMember, writeTar } from '../../base/tar-writer.js';
import { type ExecutorBundle, executorBundle } from '../images/bundle/executor-bundle.js';

export interface ExecutorArchive {
  /** Tells one content from another, for a sandbox that has it already. */
  readonly name: string;
  /** As `tar -xzf` takes it. */
  readonly content: Buffer;
  /** Words that start the program when the archive is unpacked in `directory`. */
  command(directory: string): string[];
}

const made = new Map<string, Promise<ExecutorArchive>>();

/** `node`: brings a Node along, for a place without one. */
export async function executorArchive(node: boolean): Promise<ExecutorArchive> {
  const bundle = await executorBundle();
  const name = `${bundle.hash.slice(0, 16)}${node ? '-node' : ''}`;
  const archive = made.get(name) ?? pack(bundle, name, node);
  made.set(name, archive);
  archive.catch(() => made.delete(name));
  return archive;
}

/** Only the Node that made it can use the compiled form, and needs its libraries. */
const ofNode = ['node', 'lib', 'program.cache'];

async function pack(bundle: ExecutorBundle, name: string, node: boolean): Promise<ExecutorArchive> {
  const chunks: Uint8Array[] = [];
  const top = (await readdir(bundle.directory)).filter((file) => node || !ofNode.includes(file));
  for await (const chunk of writeTar(members(bundle.directory, top))) chunks.push(Buffer.from(chunk));
  const content = await promisify(gzip)(Buffer.concat(chunks), { level: 1 });
  const command = (directory: string) =>
    node ? bundle.command(directory) : ['node', `${directory}/executor.cjs`];
  return { name, content, command };
}

async function* members(root: string, names: readonly string[]): AsyncGenerator<TarMember> {
  for (const name of names) {
    const path = join(root, name);
    const stats = await lstat(path);
    if (stats.isDirectory()) {
      yield { name, type: 'directory', mode: 0o755 };
      yield* members(
        root,
        (await readdir(path)).map((inner) => join(name, inner)),
      );
    } else if (stats.isSymbolicLink()) yield { name, type: 'symlink', linkname: await readlink(path) };
    else yield { name, mode: stats.mode & 0o777, size: stats.size, content: [await readFile(path)] };
  }
}
