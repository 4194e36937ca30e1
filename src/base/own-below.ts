/** Keeps the directories that this side works with out of what a cell is shown. */
import { join, relative } from 'node:path';
import { ownDirectoriesIn } from './own-directory.js';

export interface Shown {
  /** On this machine, without links. */
  readonly source: string;
  readonly inside: string;
}

/**
 * Places inside where the user's own directories would be seen. They hold the sockets and the tokens of other cells and of
 * the keeper, which would start a cell without walls for whoever asks, and the scripts by which this side starts programs.
 */
export function ownBelow(shown: readonly Shown[]): string[] {
  const places = shown.flatMap(({ source, inside }) =>
    ownDirectoriesIn(source).map((path) => join(inside, relative(source, path))),
  );
  return [...new Set(places)];
}
