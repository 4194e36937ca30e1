/** Finds the directory and the name that a path leads to: step by step, links included, never above the root. */
import { lstatSync, mkdirSync, readlinkSync, type Stats } from 'node:fs';
import { at, type Directory } from './directory.js';
import { isErrno, problem, quote } from './file-errors.js';
import { type PathSpace, split } from './paths.js';

const maxLinks = 40;
const maxSteps = 20_000;

export interface WalkOptions {
  /** Whether to follow a symbolic link at the end. */
  readonly follow: boolean;
  /** Makes the directories on the way. */
  readonly create?: boolean | undefined;
}

/** Where a path leads: a name in an open directory, whether or not something has that name. */
export interface Place extends Disposable {
  readonly directory: Directory;
  /** `.` for the root itself. */
  readonly name: string;
  /** As seen from inside. */
  readonly path: string;
  /** All names from the root, links resolved. */
  readonly names: readonly string[];
  /** The file's state during the walk; known only when the walk follows links at the end. */
  readonly stats: Stats | undefined;
}

export function walk(root: Directory, space: PathSpace, path: string, options: WalkOptions): Place {
  const pending = space.names(path).reverse();
  const climbs = pending.includes('..');
  let resolved: string[] = [];
  let directory = root;
  let links = 0;

  const enter = (next: Directory) => {
    if (directory !== root) directory.close();
    directory = next;
  };
  const place = (name: string, stats?: Stats): Place => {
    const names = name === '.' ? resolved : [...resolved, name];
    // The root may close while the place is still in use, so the place opens the directory again.
    const found = directory === root ? root.open('.') : directory;
    return {
      directory: found,
      name,
      path: climbs ? space.inside(names) : space.absolute(path),
      names,
      stats,
      [Symbol.dispose]: () => found.close(),
    };
  };
  const followLink = (name: string) => {
    const target = readlinkSync(at(directory, name), 'utf8');
    if (++links > maxLinks) {
      throw problem(
        'not-found',
        `${quote(path)} leads through more than ${maxLinks} symbolic links. Check for a loop.`,
        path,
      );
    }
    if (target.startsWith('/')) {
      pending.push(...space.linkNames(target, path).reverse());
      resolved = [];
      enter(root);
    } else {
      pending.push(...split(target).reverse());
    }
  };
  /** Walk the way to here from the root again: never leave an open directory through its parent. */
  const restart = () => {
    pending.push(...resolved.reverse());
    resolved = [];
    enter(root);
  };
  const climb = () => {
    if (resolved.length === 0) {
      if (!space.isWhole) throw space.outside(path);
      return;
    }
    resolved.pop();
    while (resolved.length > 0 && pending.at(-1) === '..') {
      pending.pop();
      resolved.pop();
    }
    restart();
  };

  try {
    for (let steps = 0; ; steps++) {
      if (steps > maxSteps)
        throw problem('invalid-action', `${quote(path)} takes too many steps. Use a shorter path.`, path);
      const name = pending.pop();
      if (name === undefined) {
        if (resolved.length === 0) return place('.');
        // A link to `.` ended the walk in a directory; find its name from the root.
        restart();
      } else if (name === '..') {
        climb();
      } else if (pending.length === 0) {
        const stats = options.follow ? lstatSync(at(directory, name), { throwIfNoEntry: false }) : undefined;
        if (!stats?.isSymbolicLink()) return place(name, stats);
        followLink(name);
      } else {
        const next = step(directory, name, options.create === true);
        if (next === undefined) {
          followLink(name);
        } else {
          enter(next);
          resolved.push(name);
        }
      }
    }
  } catch (error) {
    if (directory !== root) directory.close();
    throw error;
  }
}

/** Opens the next directory; undefined when a symbolic link is in its place. */
function step(directory: Directory, name: string, create: boolean): Directory | undefined {
  try {
    return directory.open(name);
  } catch (error) {
    if (create && isErrno(error, 'ENOENT')) return openOrMake(directory, name);
    if (isErrno(error, 'ENOTDIR') && lstatSync(at(directory, name)).isSymbolicLink()) return undefined;
    throw error;
  }
}

/** Opens a directory, and creates it if nothing has its name. */
export function openOrMake(directory: Directory, name: string): Directory {
  try {
    mkdirSync(at(directory, name), 0o755);
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
  }
  return directory.open(name);
}
