/** Everything below a path as a zip archive of files, for `/download_files`. */
import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import type { Executor } from '../../../protocol/index.js';
import { HttpError } from '../http-error.js';
import { transfers } from '../messages.js';
import { perform } from '../perform.js';
import { kindOf } from './path-kind.js';

/** The archive is made as it is read: stored, names relative to the path, without directories. */
export async function downloadZip(executor: Executor, path: string): Promise<Readable> {
  if (!path.startsWith('/')) throw new HttpError(400, transfers.relativePath);
  const kind = await kindOf(executor, path);
  if (kind === 'missing') throw new HttpError(404, transfers.missing(path));
  const names = kind === 'file' ? [''] : await filesBelow(executor, path);
  const archive = new ZipFile();
  const output = archive.outputStream as Readable;
  const fail = (error: Error) => void output.destroy(error);
  archive.on('error', fail);
  const packing = new Packing(archive, executor);
  output.once('close', () => packing.stop());
  void packing.pack(path, names).then(() => archive.end(), fail);
  return output;
}

async function filesBelow(executor: Executor, path: string): Promise<string[]> {
  const { entries, truncated } = await perform(executor, { action: 'list', path, depth: 64, limit: 100_000 });
  if (truncated) throw new HttpError(413, transfers.tooMany(path));
  const names: string[] = [];
  for (const entry of entries) {
    const isFile =
      entry.type === 'file' || (entry.type === 'symlink' && (await kindOf(executor, entry.path)) === 'file');
    if (isFile) names.push(posix.relative(path, entry.path));
  }
  return names;
}

/** Puts one file after the other into an archive, as long as somebody reads it. */
class Packing {
  readonly #archive: ZipFile;
  readonly #executor: Executor;
  #current: Readable | undefined;
  #stopped = false;

  constructor(archive: ZipFile, executor: Executor) {
    this.#archive = archive;
    this.#executor = executor;
  }

  async pack(path: string, names: readonly string[]): Promise<void> {
    for (const name of names) {
      const { content } = await this.#executor.download(posix.join(path, name));
      if (this.#stopped) return;
      this.#current = Readable.from(content);
      this.#archive.addReadStream(this.#current, name || posix.basename(path), { compress: false });
      await finished(this.#current);
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#current?.destroy();
  }
}
