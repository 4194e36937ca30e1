/**
 * Directories that only this user can enter. Everybody may be able to write to the place that holds one. So a
 * directory counts only when its open descriptor says that it belongs to this user, and no other user can change the
 * path to it.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { WorkcellError } from '../protocol/errors.js';
import { reachTrusted, UntrustedPathError } from './trusted-path.js';

export interface OwnDirectory {
  /** Without links. */
  readonly path: string;
  /** The path by which the operating system reaches this very directory, whatever becomes of its name. */
  readonly base: string;
}

/** Where this user's cells, their keepers and their sockets are: everything that others must find again by its name. */
export function runtimeDirectory(): OwnDirectory {
  const { XDG_RUNTIME_DIR: given = '' } = process.env;
  // Programs that become another user often keep this variable of the first one.
  if (isAbsolute(given) && isOwn(given)) return openOwnDirectory(join(given, 'workcell'));
  return temporaryDirectory();
}

/** For files that may be large and that this process removes when it ends. */
export function temporaryDirectory(): OwnDirectory {
  return openOwnDirectory(join(tmpdir(), ownName()));
}

/**
 * The user's own directories inside a directory, whose path has no links. Creates a missing one, so that nobody else
 * who can write there creates it first: programs of a cell often run as this user.
 */
export function ownDirectoriesIn(directory: string): string[] {
  const { XDG_RUNTIME_DIR: given = '' } = process.env;
  const places = [
    join(tmpdir(), ownName()),
    join('/dev/shm', ownName()),
    ...(isAbsolute(given) && isOwn(given) ? [join(given, 'workcell')] : []),
  ];
  const inside = places.flatMap(withoutLinks).filter((place) => isWithin(place, directory));
  return [...new Set(inside)].map((place) => openOwnDirectory(place).path);
}

/** The name of this user's directory in a place that is everybody's. */
export function ownName(): string {
  return `workcell-${process.geteuid?.() ?? 0}`;
}

/**
 * Opens a directory inside it that belongs to this user, too. Undefined where there is none. Dispose of the result.
 */
export function enterOwn(directory: OwnDirectory, name: string): (OwnDirectory & Disposable) | undefined {
  if (name === '' || name.startsWith('.') || name.includes('/')) return undefined;
  let descriptor: number;
  try {
    descriptor = openSync(join(directory.base, name), directoryOnly);
  } catch {
    return undefined;
  }
  const close = () => closeSync(descriptor);
  const path = join(directory.path, name);
  if (fstatSync(descriptor).uid === process.geteuid?.())
    return { path, base: baseOf(descriptor, path), [Symbol.dispose]: close };
  close();
  return undefined;
}

interface Opened extends OwnDirectory {
  readonly descriptor: number;
}

const opened = new Map<string, Opened>();
const directoryOnly = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Opens the directory for as long as this process lives, and makes it if it is missing. `permission-denied` when it is not this user's alone. */
export function openOwnDirectory(path: string): OwnDirectory {
  const wanted = resolve(path);
  const known = opened.get(wanted);
  if (known !== undefined && fstatSync(known.descriptor).nlink > 0) return known;
  if (known !== undefined) closeSync(known.descriptor);
  opened.delete(wanted);
  const directory = open(wanted);
  opened.set(wanted, directory);
  return directory;
}

function open(path: string): Opened {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    using parent = reachTrusted(dirname(path));
    const place = `${parent.base}/${basename(path)}`;
    makeUnlessThere(place);
    const descriptor = openSync(place, directoryOnly);
    const { uid, mode } = fstatSync(descriptor);
    if (uid === process.geteuid?.() && (mode & 0o077) === 0)
      return { path: join(parent.path, basename(path)), base: baseOf(descriptor, place), descriptor };
    closeSync(descriptor);
    throw new UntrustedPathError(
      path,
      uid === process.geteuid?.()
        ? `can be entered by other users (mode ${(mode & 0o7777).toString(8).padStart(4, '0')})`
        : `belongs to user ${uid}`,
    );
  } catch (cause) {
    throw refusal(path, cause);
  }
}

function makeUnlessThere(place: string): void {
  try {
    mkdirSync(place, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Without a proc file system there is only the path. */
function baseOf(descriptor: number, place: string): string {
  return existsSync('/proc/self/fd') ? `/proc/self/fd/${descriptor}` : place;
}

function withoutLinks(place: string): string[] {
  try {
    return [join(realpathSync(dirname(place)), basename(place))];
  } catch {
    // A missing place contains nothing.
    return [];
  }
}

function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`);
}

function isOwn(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.uid === process.geteuid?.();
}

function refusal(path: string, cause: unknown): Error {
  const { code } = cause as NodeJS.ErrnoException;
  const reason =
    cause instanceof UntrustedPathError
      ? `${cause.message}.`
      : code === 'ELOOP' || code === 'ENOTDIR' || code === 'EACCES'
        ? `${path} is not a directory of this user.`
        : undefined;
  if (reason === undefined) return cause as Error;
  return new WorkcellError(
    'permission-denied',
    `Workcell needs the directory ${path} for itself alone. ${reason} Remove it, or set XDG_RUNTIME_DIR and TMPDIR to directories of your own.`,
    { details: { path }, cause },
  );
}
