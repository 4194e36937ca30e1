import { type FileHandle, open } from 'node:fs/promises';
import type {
  ActionInput,
  Downloaded,
  DownloadOptions,
  FileChange,
  FileEntry,
  GrepMatch,
  Observation,
  Uploaded,
  UploadOptions,
} from '../protocol/index.js';
import { WorkcellError } from '../protocol/index.js';
import type { Call } from './verb-call.js';

type Rest<Name extends Parameters<Call['execute']>[0]['action'], Keys extends string> = Omit<
  Extract<ActionInput, { action: Name }>,
  'action' | Keys
>;

/** Most changes that wait for a reader. */
const mostPending = 1000;

/** The file verbs of a runtime. Paths are as seen from inside the cell; relative ones start at the workspace. */
export class Files {
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  async list(path = '.', options: Rest<'list', 'path'> = {}): Promise<FileEntry[]> {
    return (await this.#call.execute({ action: 'list', path, ...options })).entries;
  }

  stat(path: string): Promise<Observation<'stat'>> {
    return this.#call.execute({ action: 'stat', path });
  }

  async exists(path: string): Promise<boolean> {
    try {
      await this.stat(path);
      return true;
    } catch (error) {
      if (WorkcellError.isInstance(error) && (error.code === 'not-found' || error.code === 'not-a-directory'))
        return false;
      throw error;
    }
  }

  makeDir(path: string, options: Rest<'make_dir', 'path'> = {}): Promise<Observation<'make_dir'>> {
    return this.#call.execute({ action: 'make_dir', path, ...options });
  }

  remove(path: string, options: Rest<'remove', 'path'> = {}): Promise<Observation<'remove'>> {
    return this.#call.execute({ action: 'remove', path, ...options });
  }

  move(from: string, to: string, options: Rest<'move', 'from' | 'to'> = {}): Promise<Observation<'move'>> {
    return this.#call.execute({ action: 'move', from, to, ...options });
  }

  copy(from: string, to: string, options: Rest<'copy', 'from' | 'to'> = {}): Promise<Observation<'copy'>> {
    return this.#call.execute({ action: 'copy', from, to, ...options });
  }

  async glob(pattern: string, options: Rest<'glob', 'pattern'> = {}): Promise<string[]> {
    return (await this.#call.execute({ action: 'glob', pattern, ...options })).paths;
  }

  async grep(pattern: string, options: Rest<'grep', 'pattern'> = {}): Promise<GrepMatch[]> {
    return (await this.#call.execute({ action: 'grep', pattern, ...options })).matches;
  }

  /** Changes below a path, from the moment this resolves until `signal` aborts or you leave the loop. */
  async watch(
    path = '.',
    options: Rest<'watch', 'path'> & { signal?: AbortSignal } = {},
  ): Promise<AsyncIterable<FileChange>> {
    const { signal, ...rest } = options;
    const stop = new AbortController();
    const ending = signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal]);
    const pending: FileChange[] = [];
    let wake = () => {};
    let makeRoom = () => {};
    let ended = false;
    let failure: unknown;
    ending.addEventListener('abort', () => makeRoom(), { once: true });
    const ready = new Promise<void>((resolve) => {
      this.#call
        .execute(
          { action: 'watch', path, ...rest },
          {
            signal: ending,
            onProgress: (progress) => {
              if (progress.type === 'ready') resolve();
              if (progress.type === 'file-change') pending.push(progress);
              wake();
              // A reader that falls behind holds the cell's side back, which then reports less.
              if (pending.length < mostPending || ending.aborted) return undefined;
              return new Promise<void>((resolve) => {
                makeRoom = resolve;
              });
            },
          },
        )
        .catch((error: unknown) => {
          failure = error;
        })
        .finally(() => {
          ended = true;
          resolve();
          wake();
        });
    });
    await ready;
    if (failure !== undefined) throw failure;
    return (async function* () {
      try {
        while (true) {
          const change = pending.shift();
          if (pending.length < mostPending) makeRoom();
          if (change !== undefined) yield change;
          else if (failure !== undefined) throw failure;
          else if (ended) return;
          else
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
        }
      } finally {
        stop.abort();
      }
    })();
  }

  /** Copies bytes, or the file at a local path, into the cell; with `format` it unpacks them below `path`. */
  async upload(
    source: string | Uint8Array | AsyncIterable<Uint8Array>,
    path: string,
    options: UploadOptions = {},
  ): Promise<Uploaded> {
    if (typeof path !== 'string') throw exchanged('The path in the cell is not text.');
    if (source instanceof Uint8Array) return this.#call.upload(path, inOnePiece(source), options);
    if (typeof source !== 'string') return this.#call.upload(path, source, options);
    await using file = await openLocal(source);
    const content = file.createReadStream({ autoClose: false }) as AsyncIterable<Uint8Array>;
    return await this.#call.upload(path, content, options);
  }

  /** Streams a file out of the cell; with `format` a directory comes as one archive. */
  download(path: string, options: DownloadOptions = {}): Promise<Downloaded> {
    return this.#call.download(path, options);
  }
}

async function* inOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function openLocal(path: string): Promise<FileHandle> {
  const file = await open(path).catch((cause: NodeJS.ErrnoException) => {
    throw exchanged(`The local file ${path} cannot be read: ${cause.message}.`, cause);
  });
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw exchanged(`${path} on this machine is not a regular file.`);
}

function exchanged(problem: string, cause?: unknown): WorkcellError {
  return new WorkcellError(
    'invalid-action',
    `${problem} files.upload takes first what to upload, bytes or the path of a local file, and then the path in the cell.`,
    { cause },
  );
}
