/** Unpacks a directory that a cell sends. Whatever it sends stays below the destination, and within limits. */
import { fstatSync, futimesSync, mkdirSync, symlinkSync, write } from 'node:fs';
import { promisify } from 'node:util';
import { Pace } from '../../base/pace.js';
import { readTar, type TarEntry } from '../../base/tar-reader.js';
import { memberNames } from '../../cell/executor/files/archive/member-path.js';
import { WorkcellError } from '../../protocol/index.js';
import { type CaptureLimits, overLimit } from './capture.js';
import { copyFailure, createFile } from './copy-entry.js';
import { Folder } from './layer-folder.js';
import { type View, ViewFolder, withEntry } from './workspace-view.js';

const writeAsync = promisify(write);

/**
 * `destination`: an empty directory that nobody else can change. `like`: directories there keep the bits that an archive does
 * not carry, such as the one that hands the group down.
 */
export async function receiveTree(
  archive: AsyncIterable<Uint8Array>,
  destination: string,
  limits: CaptureLimits,
  like: View,
): Promise<void> {
  const receiver = new Receiver(limits);
  using root = Folder.open(destination, { unlock: true });
  try {
    for await (const entry of readTar(bounded(archive, limits))) await receiver.take(entry, root);
    await receiver.settle(root, like);
  } catch (cause) {
    throw WorkcellError.isInstance(cause) ? cause : failure(cause);
  }
}

/** Header, names and padding of an entry take no more. */
const entryBytes = 16_384;

/** All the bytes of an archive, also those that belong to no entry: a server inside the cell may send them without end. */
async function* bounded(
  archive: AsyncIterable<Uint8Array>,
  { maxBytes = Infinity, maxFiles = Infinity }: CaptureLimits,
): AsyncGenerator<Uint8Array> {
  let left = maxBytes + entryBytes * (maxFiles + 1);
  for await (const piece of archive) {
    left -= piece.length;
    if (left < 0) throw overLimit('bytes', maxBytes);
    yield piece;
  }
}

class Receiver {
  readonly #limits: CaptureLimits;
  readonly #pace = new Pace(undefined);
  readonly #modes: { names: readonly string[]; mode: number }[] = [];
  #entries = 0;
  #bytes = 0;

  constructor(limits: CaptureLimits) {
    this.#limits = limits;
  }

  async take(entry: TarEntry, root: Folder): Promise<void> {
    await this.#pace.step();
    this.#count();
    const names = latinNames(entry.name);
    const name = names.at(-1);
    if (name === undefined) return;
    await inside(
      root,
      names.slice(0, -1),
      (folder) => this.#put(folder, name, names, entry),
      () => this.#count(),
    );
  }

  #count(): void {
    const { maxFiles } = this.#limits;
    if (maxFiles !== undefined && ++this.#entries > maxFiles) throw overLimit('files', maxFiles);
  }

  /** Modes last: one of them may keep this side out. */
  async settle(root: Folder, like: View): Promise<void> {
    using model = ViewFolder.open(like);
    for (const { names, mode } of this.#modes.reverse()) {
      await this.#pace.step();
      const stats = await withEntry(model, names.join('/'), (found) => found?.stats);
      const bits = stats?.isDirectory() ? stats.mode & 0o7000 : 0;
      inside(
        root,
        names,
        (folder) => folder.mode(mode | bits),
        () => {},
      );
    }
  }

  async #put(folder: Folder, name: string, names: readonly string[], entry: TarEntry): Promise<void> {
    const { type, mode, mtime, linkname, content } = entry;
    if (type === 'directory') {
      if (!folder.stat(name)?.isDirectory()) mkdirSync(folder.at(name), { mode: 0o700 });
      this.#modes.push({ names, mode: mode & 0o777 });
    } else if (type === 'symlink') symlinkSync(asText(linkname), folder.at(name));
    else if (type === 'file')
      await createFile(folder, name, mode & 0o777, async (file) => {
        for await (const piece of content) await this.#write(file, piece);
        // The cell says when; a time that no file system has is not worth a failure.
        if (Number.isFinite(mtime.getTime())) futimesSync(file, fstatSync(file).atime, mtime);
      });
    else throw notAccepted(`an entry of the type ${type}`);
  }

  async #write(file: number, piece: Uint8Array): Promise<void> {
    const { maxBytes } = this.#limits;
    this.#bytes += piece.length;
    if (maxBytes !== undefined && this.#bytes > maxBytes) throw overLimit('bytes', maxBytes);
    for (let written = 0; written < piece.length; )
      written += (await writeAsync(file, piece, written)).bytesWritten;
  }
}

/** Calls `use` with a directory by its names; makes those that are missing, and calls `onMake` before each. */
function inside<T>(
  root: Folder,
  names: readonly string[],
  use: (folder: Folder) => T,
  onMake: () => void,
): T {
  const [name, ...rest] = names;
  if (name === undefined) return use(root);
  if (root.stat(name) === undefined) {
    onMake();
    mkdirSync(root.at(name), { mode: 0o700 });
  }
  const child = root.child(name);
  if (child === undefined) throw notAccepted('an entry below a file or a link');
  const close = () => child[Symbol.dispose]();
  let result: T;
  try {
    result = inside(child, rest, use, onMake);
  } catch (error) {
    close();
    throw error;
  }
  if (result instanceof Promise) return result.finally(close) as T;
  close();
  return result;
}

/** The archive has text in place of bytes, so such a name would come back as another one. */
const replacement = '\ufffd';

function latinNames(member: string): string[] {
  return memberNames(asText(member)).map((name) => Buffer.from(name).toString('latin1'));
}

function asText(name: string): string {
  if (!name.includes(replacement)) return name;
  throw new WorkcellError(
    'capability-unsupported',
    'The workspace has a name that is not UTF-8, which checkpoints of a cell on another machine do not cover. Rename it first.',
    { details: { path: name.slice(0, 300), capability: 'checkpoint' } },
  );
}

function notAccepted(what: string): WorkcellError {
  return new WorkcellError(
    'internal',
    `The cell sent its files with ${what}, so they were not taken. Start another cell.`,
  );
}

function failure(cause: unknown): unknown {
  const known = copyFailure(cause);
  if (known !== cause) return known;
  return new WorkcellError(
    'internal',
    'The files of the cell could not be received whole. Try again, or start another cell.',
    { cause },
  );
}
