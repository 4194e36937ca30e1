/** Keeps the directories by which a user's cells are reached out of what a cell is shown. */
import { join, relative } from 'node:path';
import { runtimeDirectory, temporaryDirectory } from './own-directory.js';

export interface Shown {
  /** On this machine, without links. */
  readonly source: string;
  readonly inside: string;
}

/**
 * Places inside where the user's own directories would be seen. They hold the sockets and the tokens of other cells and of
 * the keeper, which would start a cell without walls for whoever asks.
 */
export function ownBelow(shown: readonly Shown[]): string[] {
  if (shown.length === 0) return [];
  const own = new Set([runtimeDirectory().path, temporaryDirectory().path]);
  return shown.flatMap(({ source, inside }) =>
    [...own].filter((path) => isWithin(path, source)).map((path) => join(inside, relative(source, path))),
  );
}

function isWithin(path: string, parent: string): boolean {
  return path === parent || path.startsWith(parent.endsWith('/') ? parent : `${parent}/`);
}
