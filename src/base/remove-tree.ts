/**
 * Removes directories with everything in them, whatever programs did to them and still do. It reaches every name from
 * the open directory that holds it and follows no link, so it touches nothing outside the tree.
 */
import {
  chmodSync,
  close,
  closeSync,
  constants,
  type Dir,
  existsSync,
  fstatSync,
  open,
  opendirSync,
  openSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  unlinkSync,
} from 'node:fs';
import { chmod, opendir, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { promisify } from 'node:util';

export interface RemoveOptions {
  /** Skips a tree that another user owns, as its open descriptor says. Files inside it may belong to anybody. */
  readonly onlyOwn?: boolean;
}

/** Removes a file, a link or a whole directory. Ignores what it cannot remove and what does not exist. */
export function removeTree(path: string, options: RemoveOptions = {}): void {
  if (!hasDescriptorPaths) {
    rmSync(path, { recursive: true, force: true });
    return;
  }
  const work = removing(path, options);
  for (let step = work.next(); !step.done; ) {
    const { now } = step.value;
    step = settle(work, now);
  }
}

/** The same without blocking this thread, which a disk does even for an empty directory. */
export async function discardTree(path: string, options: RemoveOptions = {}): Promise<void> {
  if (!hasDescriptorPaths) return rm(path, { recursive: true, force: true });
  // Mostly it is empty already.
  if (!options.onlyOwn && (await isRemoved(path))) return;
  const work = removing(path, options);
  for (let step = work.next(); !step.done; ) {
    const outcome = await step.value.later().then(
      (value) => () => value,
      (error: unknown) => () => {
        throw error;
      },
    );
    step = settle(work, outcome);
  }
}

function isRemoved(path: string): Promise<boolean> {
  return rmdir(path).then(
    () => true,
    () => false,
  );
}

/** One call to the operating system, in its two forms. */
interface Call {
  now(): unknown;
  later(): Promise<unknown>;
}

type Work<Result> = Generator<Call, Result, unknown>;
type Step = IteratorResult<Call, void>;

function settle(work: Work<void>, outcome: () => unknown): Step {
  let value: unknown;
  try {
    value = outcome();
  } catch (error) {
    return work.throw(error);
  }
  return work.next(value);
}

const hasDescriptorPaths = existsSync('/proc/self/fd');

/** `O_PATH`: refers to a file without opening it; Node does not name this Linux flag. */
const pathOnly = 0o10000000;
/** How many levels to keep open at once. Move deeper ones up first. */
const openLevels = 64;
/** A tree of many levels takes a round for every {@link openLevels} of them. */
const maxRounds = 1000;
/** Limits rounds that move nothing up: a running program may fill the tree as fast as we empty it. */
const maxRefills = 10;
const batch = 256;

type Path = string | Buffer;

interface Directory {
  readonly base: string;
  /** The id of its mount: another part of the same device may be a mount inside the tree. */
  readonly mount: string;
}

let moved = 0;

function* removing(path: string, { onlyOwn = false }: RemoveOptions): Work<void> {
  const parent = yield* openParent(dirname(path));
  if (parent === undefined) return;
  try {
    yield* removeEntry(parent, Buffer.from(basename(path)), onlyOwn);
  } finally {
    yield calls.close(parent.base);
  }
}

/** Opens the directory that holds the tree, by the caller's path. Follows no link from there on down. */
function* openParent(path: string): Work<Directory | undefined> {
  try {
    const descriptor = (yield openCall(path, pathOnly | constants.O_DIRECTORY)) as number;
    return { base: `/proc/self/fd/${descriptor}`, mount: mountOf(descriptor, fstatSync(descriptor)) };
  } catch {
    return undefined;
  }
}

function* removeEntry(parent: Directory, name: Buffer, onlyOwn: boolean): Work<void> {
  const place = at(parent, name);
  if (onlyOwn && !(yield* isOwn(place))) return;
  const top = yield* openDirectory(place, parent.mount);
  if (top === undefined) {
    yield* removed(calls.unlink(place));
    return;
  }
  try {
    if (onlyOwn && fstatSync(numberOf(top.base)).uid !== process.geteuid?.()) return;
    let refills = 0;
    for (let round = 0; round < maxRounds && refills <= maxRefills; round++) {
      const before = moved;
      const progress = yield* empty(top, top, 1);
      if ((yield* removed(calls.rmdir(place))) || !progress) return;
      if (moved === before) refills++;
    }
  } finally {
    yield calls.close(top.base);
  }
}

/** True when it removed something or moved it up, so that another round may find less. */
function* empty(directory: Directory, top: Directory, depth: number): Work<boolean> {
  const list = yield* openList(directory);
  if (list === undefined) return false;
  let progress = false;
  try {
    for (;;) {
      const names = (yield calls.read(list)) as Buffer[];
      if (names.length === 0) return progress;
      const outcomes = (yield calls.unlinkAll(names.map((name) => at(directory, name)))) as Outcome[];
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome === 'removed') progress = true;
        else if (outcome === 'directory')
          progress = (yield* removeDirectory(directory, names[index] as Buffer, top, depth)) || progress;
      }
    }
  } finally {
    yield calls.closedir(list);
  }
}

/** Undefined for a directory that this user may not read. It may still be empty. */
function* openList({ base }: Directory): Work<Dir | undefined> {
  try {
    return (yield calls.opendir(base)) as Dir;
  } catch {
    return undefined;
  }
}

function* removeDirectory(parent: Directory, name: Buffer, top: Directory, depth: number): Work<boolean> {
  const place = at(parent, name);
  const child = yield* openDirectory(place, parent.mount);
  if (child === undefined) return false;
  try {
    if (depth >= openLevels) return yield* removed(calls.rename(place, `${top.base}/.removed-${moved++}`));
    const progress = yield* empty(child, top, depth + 1);
    return (yield* removed(calls.rmdir(place))) || progress;
  } finally {
    yield calls.close(child.base);
  }
}

/**
 * Undefined for something that is not a directory, is gone, or is a mount point. When the permissions of a directory
 * keep its own owner out, adds them first.
 */
function* openDirectory(path: Path, parentMount: string): Work<Directory | undefined> {
  let descriptor: number;
  try {
    descriptor = (yield calls.open(path)) as number;
  } catch {
    return undefined;
  }
  const base = `/proc/self/fd/${descriptor}`;
  const stats: Stats = fstatSync(descriptor);
  const mount = mountOf(descriptor, stats);
  if (mount !== parentMount) {
    yield calls.close(base);
    return undefined;
  }
  if ((stats.mode & 0o700) !== 0o700) yield* removed(calls.chmod(base));
  return { base, mount };
}

function mountOf(descriptor: number, { dev }: Stats): string {
  const id = /^mnt_id:\t(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1];
  return `${dev} ${id ?? ''}`;
}

function* isOwn(place: Path): Work<boolean> {
  try {
    const descriptor = (yield calls.openAny(place)) as number;
    const { uid } = fstatSync(descriptor);
    closeSync(descriptor);
    return uid === process.geteuid?.();
  } catch {
    return false;
  }
}

/** Whether the call succeeded. Another process may have been faster; leave what it prevents. */
function* removed(call: Call): Work<boolean> {
  try {
    yield call;
    return true;
  } catch {
    return false;
  }
}

type Outcome = 'removed' | 'directory' | 'kept';

const calls = {
  open: (path: Path) => openCall(path, pathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW),
  openAny: (path: Path) => openCall(path, pathOnly | constants.O_NOFOLLOW),
  close: (base: string): Call => ({
    now: () => closeSync(numberOf(base)),
    later: () => promisify(close)(numberOf(base)),
  }),
  opendir: (base: string): Call => {
    // Read names as bytes, because they need not be valid UTF-8.
    const options = { encoding: 'buffer' as BufferEncoding, bufferSize: batch };
    return { now: () => opendirSync(base, options), later: () => opendir(base, options) };
  },
  read: (list: Dir): Call => ({
    now: () => readNames(() => list.readSync()),
    later: async () => {
      const names: Buffer[] = [];
      while (names.length < batch) {
        const entry = await list.read();
        if (entry === null) break;
        names.push(entry.name as unknown as Buffer);
      }
      return names;
    },
  }),
  closedir: (list: Dir): Call => ({ now: () => list.closeSync(), later: () => list.close() }),
  unlinkAll: (paths: readonly Path[]): Call => ({
    now: () => paths.map((path) => outcomeOf(() => unlinkSync(path))),
    later: () =>
      Promise.all(
        paths.map((path) =>
          unlink(path).then(
            () => 'removed',
            (error: NodeJS.ErrnoException) => failureOf(error),
          ),
        ),
      ),
  }),
  unlink: (path: Path): Call => ({ now: () => unlinkSync(path), later: () => unlink(path) }),
  rmdir: (path: Path): Call => ({ now: () => rmdirSync(path), later: () => rmdir(path) }),
  rename: (from: Path, to: Path): Call => ({
    now: () => renameSync(from, to),
    later: () => rename(from, to),
  }),
  chmod: (base: string): Call => ({ now: () => chmodSync(base, 0o700), later: () => chmod(base, 0o700) }),
};

function openCall(path: Path, flags: number): Call {
  return { now: () => openSync(path, flags), later: () => promisify(open)(path, flags) };
}

function readNames(next: () => { name: unknown } | null): Buffer[] {
  const names: Buffer[] = [];
  while (names.length < batch) {
    const entry = next();
    if (entry === null) break;
    names.push(entry.name as Buffer);
  }
  return names;
}

function outcomeOf(work: () => void): Outcome {
  try {
    work();
    return 'removed';
  } catch (error) {
    return failureOf(error as NodeJS.ErrnoException);
  }
}

/** Some systems answer EPERM for a directory; trying it as one does no harm. */
function failureOf({ code }: NodeJS.ErrnoException): Outcome {
  if (code === 'ENOENT') return 'removed';
  return code === 'EISDIR' || code === 'EPERM' ? 'directory' : 'kept';
}

function at({ base }: Directory, name: Buffer): Path {
  return Buffer.concat([Buffer.from(`${base}/`), name]);
}

function numberOf(base: string): number {
  return Number(base.slice(base.lastIndexOf('/') + 1));
}
