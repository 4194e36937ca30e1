/**
 * Directories of a workspace and of its checkpoints. Code reaches every entry from the open directory that holds it and
 * follows no link, so what a cell puts there leads nowhere else. Names are Latin-1 strings: each byte of a name is one
 * character, so names that are not UTF-8 survive.
 */
import {
  chmodSync,
  closeSync,
  constants,
  type Dir,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  type Stats,
} from 'node:fs';
import type { Pace } from '../../base/pace.js';
import { WorkcellError } from '../../protocol/index.js';

/** `O_PATH`: refers to a file without opening it; Node does not name this Linux flag. */
const pathOnly = 0o10000000;
/** Each level holds a descriptor while code walks it. */
const deepest = 400;

export interface FolderOptions {
  /** Opens directories whose mode keeps their own owner out, and restores the mode when it closes. */
  readonly unlock?: boolean;
}

export class Folder implements Disposable {
  readonly base: string;
  readonly stats: Stats;
  readonly #fd: number;
  readonly #options: FolderOptions;
  readonly #depth: number;
  #locked = false;

  private constructor(fd: number, options: FolderOptions, depth: number) {
    this.#fd = fd;
    this.#options = options;
    this.#depth = depth;
    this.base = `/proc/self/fd/${fd}`;
    this.stats = fstatSync(fd);
    if (options.unlock && (this.stats.mode & 0o700) !== 0o700 && process.geteuid?.() !== 0) {
      chmodSync(this.base, (this.stats.mode & 0o7777) | 0o700);
      this.#locked = true;
    }
  }

  /** Opens a directory by a path that nobody else can change. */
  static open(path: string, options: FolderOptions = {}): Folder {
    return new Folder(openSync(path, pathOnly | constants.O_DIRECTORY), options, 0);
  }

  /** Whether code may change modes here to read what its own owner cannot. */
  get unlocks(): boolean {
    return this.#options.unlock === true;
  }

  /** The directory of that name; undefined when there is none. */
  child(name: string): Folder | undefined {
    if (this.#depth >= deepest) throw tooDeep();
    let fd: number;
    try {
      fd = openSync(this.at(name), pathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return undefined;
      throw error;
    }
    return new Folder(fd, this.#options, this.#depth + 1);
  }

  /** In no order. Others get their turn meanwhile: a cell makes directories of any size. */
  async *names(pace: Pace): AsyncGenerator<string> {
    let list: Dir;
    try {
      list = opendirSync(this.base, { encoding: 'latin1' as BufferEncoding, bufferSize: 256 });
    } catch (cause) {
      throw refusal('.', cause);
    }
    try {
      for (let entry = list.readSync(); entry !== null; entry = list.readSync()) {
        await pace.step();
        yield entry.name;
      }
    } finally {
      list.closeSync();
    }
  }

  /** What an entry is, links not followed; undefined when there is none. */
  stat(name: string): Stats | undefined {
    return lstatSync(this.at(name), { throwIfNoEntry: false });
  }

  /** The path of an entry, for one system call. */
  at(name: string): Buffer {
    return Buffer.concat([Buffer.from(`${this.base}/`), Buffer.from(name, 'latin1')]);
  }

  /** Sets its mode. */
  mode(mode: number): void {
    this.#locked = false;
    chmodSync(this.base, mode);
  }

  [Symbol.dispose](): void {
    if (this.#locked) chmodSync(this.base, this.stats.mode & 0o7777);
    closeSync(this.#fd);
  }
}

/** An entry itself, whatever gets its name later. */
export class Handle implements Disposable {
  readonly stats: Stats;
  /** Leads to the entry, for one system call. */
  readonly path: string;
  readonly #fd: number;

  private constructor(fd: number) {
    this.#fd = fd;
    this.path = `/proc/self/fd/${fd}`;
    this.stats = fstatSync(fd);
  }

  /** Undefined when there is none of that name. Follows no link, and opens nothing. */
  static open(folder: Folder, name: string): Handle | undefined {
    try {
      return new Handle(openSync(folder.at(name), pathOnly | constants.O_NOFOLLOW));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Sets its mode. Not for links, which have none. */
  mode(mode: number): void {
    chmodSync(this.path, mode & 0o7777);
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }
}

/** An entry of a layer that hides what the layers below have by its name. */
export function isWhiteout(stats: Stats): boolean {
  return stats.isCharacterDevice() && stats.rdev === 0;
}

/** Nobody would listen behind the name of a copied socket, and devices are not for cells. */
export function isCopied(stats: Stats): boolean {
  return stats.isFile() || stats.isSymbolicLink() || stats.isFIFO();
}

export function byBytes(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The text of a name or path for people and JSON. */
export function textOf(name: string): string {
  return Buffer.from(name, 'latin1').toString('utf8');
}

/** What it means that this user may not read an entry, in our words. Other causes come back as they are. */
export function refusal(name: string, cause: unknown): unknown {
  const { code } = cause as NodeJS.ErrnoException;
  if (code !== 'EACCES' && code !== 'EPERM') return cause;
  const path = textOf(name);
  return new WorkcellError(
    'permission-denied',
    `The entry ${JSON.stringify(path)} belongs to another user or its mode keeps you out, so it cannot be copied. Change its mode, or leave it out.`,
    { details: { path }, cause },
  );
}

export function isRefusal(error: unknown): boolean {
  return WorkcellError.isInstance(error) && error.code === 'permission-denied';
}

function tooDeep(): WorkcellError {
  return new WorkcellError(
    'file-too-large',
    `The workspace has directories more than ${deepest} levels deep, which checkpoints do not cover. Remove them first.`,
    { details: { limit: deepest } },
  );
}
