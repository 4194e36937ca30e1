import { checkCancelled } from '../../../../base/pace.js';
import type { ArchiveFormat, Uploaded } from '../../../../protocol/index.js';
import type { Tree } from '../file-tree.js';
import { type ArchiveLimits, Budget, unreadable } from './archive-limits.js';
import { unpackTar } from './unpack-tar.js';
import { unpackZip } from './unpack-zip.js';
import { Unpacker } from './unpacker.js';

export interface UnpackOptions {
  readonly format: ArchiveFormat;
  readonly limits: ArchiveLimits;
  readonly signal?: AbortSignal | undefined;
}

/** Unpacks an archive below a directory, which it makes. On an error, complete members stay. */
export async function unpack(
  tree: Tree,
  path: string,
  content: AsyncIterable<Uint8Array>,
  options: UnpackOptions,
): Promise<Uploaded> {
  using opened = tree.openDirectory(path, { create: true });
  const budget = new Budget(options.limits);
  const unpacker = new Unpacker(opened.directory, budget, (change) => tree.inOrder(change));
  const source = new Source(content, budget, options.signal);
  try {
    if (options.format === 'zip') await unpackZip(source.chunks(), unpacker, budget);
    else await unpackTar(source.chunks(), unpacker, budget);
  } catch (error) {
    throw source.failure ?? unreadable(error);
  }
  return { path: opened.path, files: unpacker.files, sizeBytes: unpacker.sizeBytes };
}

/** The incoming bytes. Remembers when they failed by themselves, which says nothing about the archive. */
class Source {
  failure: unknown;
  readonly #content: AsyncIterable<Uint8Array>;
  readonly #budget: Budget;
  readonly #signal: AbortSignal | undefined;

  constructor(content: AsyncIterable<Uint8Array>, budget: Budget, signal: AbortSignal | undefined) {
    this.#content = content;
    this.#budget = budget;
    this.#signal = signal;
  }

  async *chunks(): AsyncGenerator<Buffer> {
    const iterator = this.#content[Symbol.asyncIterator]();
    try {
      for (let next = await this.#next(iterator); next !== undefined; next = await this.#next(iterator))
        yield next;
    } finally {
      await iterator.return?.();
    }
  }

  async #next(iterator: AsyncIterator<Uint8Array>): Promise<Buffer | undefined> {
    try {
      const { value, done } = await iterator.next();
      checkCancelled(this.#signal);
      if (done) return undefined;
      this.#budget.packed(value.length);
      return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }
}
