/** Keeps the directories of this side out of what a cell sees. */
import { join, relative } from 'node:path';
import { ownDirectoriesIn } from './own-directory.js';

export interface Shown {
  /** On this machine, without links. */
  readonly source: string;
  readonly inside: string;
}

/**
 * Places inside the cell that would show the user's own directories. They hold the sockets and tokens of other cells
 * and of the keeper, and the scripts with which this side starts programs. The keeper starts a cell without isolation
 * for anybody who asks it.
 */
export function ownBelow(shown: readonly Shown[]): string[] {
  const places = shown.flatMap(({ source, inside }) =>
    ownDirectoriesIn(source).map((path) => join(inside, relative(source, path))),
  );
  return [...new Set(places)];
}
