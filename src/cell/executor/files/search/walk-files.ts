/** Walks the files below a directory as a search does: without hidden and ignored ones. */
import { constants } from 'node:fs';
import type { Directory, OpenFile } from '../directory.js';
import { maxDepth, visit } from '../visit.js';
import type { PathMatcher } from './glob-pattern.js';
import type { IgnoreStack } from './ignore-stack.js';

export interface FoundFile {
  /** From where the search started. */
  readonly path: string;
  /** Opens it for reading; call it before you ask for the next file. */
  open(): OpenFile;
}

interface WalkFilesOptions {
  readonly matches: PathMatcher;
  /** The rules of the directories above; undefined when no rules count. */
  readonly ignores: IgnoreStack | undefined;
  /** Of the first directory, from the root of the tree. */
  readonly names: readonly string[];
  readonly hidden?: boolean | undefined;
  readonly ignored?: boolean | undefined;
  /** Called when a directory has more names than the walk reads. */
  readonly onPartial: () => void;
}

/** Yields undefined for what it skips. */
export function* walkFiles(
  start: Directory,
  { matches, ignores, names, hidden, ignored, onPartial }: WalkFilesOptions,
): Generator<FoundFile | undefined, void> {
  const fromRoot = (path: string) => [...names, path].filter((part) => part !== '').join('/');
  const visits = visit(start, {
    depth: maxDepth,
    onEnter: (directory, path) => ignores?.enter(directory, fromRoot(path)),
    onLeave: () => ignores?.leave(),
    onPartial,
    accept: (entry, path) => {
      if (entry.text === '.git' && !ignored) return false;
      const verdict = ignores?.judge(fromRoot(path), entry.isDirectory);
      if (verdict !== undefined) return verdict === 'kept';
      return hidden === true || !entry.text.startsWith('.');
    },
  });
  for (const found of visits) {
    const isWanted = found?.isAccepted && found.entry.isFile && matches(found.relativePath);
    if (!isWanted) {
      yield undefined;
      continue;
    }
    const { directory, entry, relativePath } = found;
    yield { path: relativePath, open: () => directory.openFile(entry.name, constants.O_RDONLY) };
  }
}
