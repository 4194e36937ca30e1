/** Walks a directory and everything below it in the order of names, each directory before its content. */
import type { Directory, Entry } from './directory.js';
import { isErrno } from './file-errors.js';
import { mostNames, readEntries } from './read-entries.js';

/** Do not enter deeper levels: each one costs an open descriptor. */
export const maxDepth = 256;

export interface Visit {
  readonly directory: Directory;
  readonly entry: Entry;
  /** From where the visit started. */
  readonly relativePath: string;
  /**
   * False for entries that `accept` rejects. The walk yields them all the same, so that a caller can pause and stop.
   */
  readonly isAccepted: boolean;
}

export interface VisitOptions {
  readonly depth: number;
  /** Tells whether an entry counts; the walk does not enter a directory that does not. */
  readonly accept?: ((entry: Entry, relativePath: string) => boolean) | undefined;
  /** The walk calls these when it enters a directory, the first one included, and when it leaves it. */
  readonly onEnter?: ((directory: Directory, relativePath: string) => void) | undefined;
  readonly onLeave?: (() => void) | undefined;
  /** The walk calls it for a directory that has more names than it reads. */
  readonly onPartial?: ((relativePath: string) => void) | undefined;
}

interface Level {
  readonly directory: Directory;
  readonly entries: readonly Entry[];
  readonly prefix: string;
  next: number;
}

/** Read this many names of a directory even if the directories above it used up the limit. */
const fewestNames = 1000;

/**
 * Skips directories that vanish, that we may not read, or that belong to the kernel, except the first one. Yields
 * undefined while it reads a long directory, so that a caller can pause and stop.
 */
export function* visit(first: Directory, options: VisitOptions): Generator<Visit | undefined, void> {
  const levels: Level[] = [];
  const depth = Math.min(options.depth, maxDepth);
  function* enter(directory: Directory, relativePath: string): Generator<undefined, void> {
    const prefix = relativePath === '' ? '' : `${relativePath}/`;
    const held = levels.reduce((sum, level) => sum + level.entries.length, 0);
    const { entries, isComplete } = yield* readEntries(directory, Math.max(fewestNames, mostNames - held));
    if (!isComplete) options.onPartial?.(relativePath);
    levels.push({ directory, entries, prefix, next: 0 });
    options.onEnter?.(directory, relativePath);
  }
  const leave = () => {
    const level = levels.pop();
    if (level !== undefined && level.directory !== first) level.directory.close();
    options.onLeave?.();
  };

  try {
    yield* enter(first, '');
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
        yield* tryEnter(level.directory, entry, relativePath);
    }
  } finally {
    while (levels.length > 0) leave();
  }

  function* tryEnter(parent: Directory, entry: Entry, relativePath: string): Generator<undefined, void> {
    let directory: Directory | undefined;
    let entered = false;
    try {
      directory = parent.open(entry.name);
      yield* enter(directory, relativePath);
      entered = true;
    } catch (error) {
      if (!isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP', 'KERNEL')) throw error;
    } finally {
      // Close it also when the caller stops while we read it.
      if (!entered) directory?.close();
    }
  }
}
