/** Goes through a directory and all below it in the order of names, each directory before what is in it. */
import { type Directory, type Entry, entries } from './directory.js';
import { isErrno } from './errors.js';

/** Deeper levels are not entered: each one costs an open descriptor. */
export const maxDepth = 256;

export interface Visit {
  readonly directory: Directory;
  readonly entry: Entry;
  /** From where the visit started. */
  readonly relativePath: string;
  /** False for what `accept` turned down; it is handed out all the same, so that a caller can pause and stop. */
  readonly isAccepted: boolean;
}

export interface VisitOptions {
  readonly depth: number;
  /** Tells whether an entry counts; a directory that does not is not entered. */
  readonly accept?: ((entry: Entry, relativePath: string) => boolean) | undefined;
  /** Called with each directory that is entered, the first one included, and again when it is left. */
  readonly onEnter?: ((directory: Directory, relativePath: string) => void) | undefined;
  readonly onLeave?: (() => void) | undefined;
}

interface Level {
  readonly directory: Directory;
  readonly entries: readonly Entry[];
  readonly prefix: string;
  next: number;
}

/** Directories that vanish, may not be read, or belong to the kernel are passed over, except the first one. */
export function* visit(first: Directory, options: VisitOptions): Generator<Visit, void> {
  const levels: Level[] = [];
  const depth = Math.min(options.depth, maxDepth);
  const enter = (directory: Directory, relativePath: string) => {
    const prefix = relativePath === '' ? '' : `${relativePath}/`;
    levels.push({ directory, entries: entries(directory), prefix, next: 0 });
    options.onEnter?.(directory, relativePath);
  };
  const leave = () => {
    const level = levels.pop();
    if (level !== undefined && level.directory !== first) level.directory.close();
    options.onLeave?.();
  };

  try {
    enter(first, '');
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      const entry = level.entries[level.next++];
      if (entry === undefined) {
        leave();
        continue;
      }
      const relativePath = level.prefix + entry.text;
      const isAccepted = options.accept?.(entry, relativePath) ?? true;
      yield { directory: level.directory, entry, relativePath, isAccepted };
      if (isAccepted && entry.isDirectory && levels.length < depth)
        tryEnter(level.directory, entry, relativePath);
    }
  } finally {
    while (levels.length > 0) leave();
  }

  function tryEnter(parent: Directory, entry: Entry, relativePath: string): void {
    let directory: Directory | undefined;
    try {
      directory = parent.open(entry.name);
      enter(directory, relativePath);
    } catch (error) {
      directory?.close();
      if (!isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP', 'KERNEL')) throw error;
    }
  }
}
