/** The directory an agent works in: the given one, or a temporary one that ends with the cell. */
import { accessSync, constants, realpathSync, type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { discardTree } from '../base/remove-tree.js';
import { makeScratch } from '../cell/launchers/scratch.js';
import { WorkcellError } from '../protocol/index.js';
import { keepRemotes } from '../runtime/network/kept-remotes.js';

/** A directory to work in. */
export interface Workspace {
  readonly path: string;
  /** Made for this cell, and removed with it. */
  readonly isTemporary: boolean;
  /** Removes it if it is temporary. */
  dispose(): Promise<void>;
}

/**
 * Directories that hand their group down have the same bit that makes a file run with the group's rights, and no
 * filter can tell the two apart. Whoever passes a workspace of such directories wants to keep them.
 */
export function handsGroupDown(path: string): boolean {
  return (statSync(path).mode & 0o2000) !== 0;
}

/** Checks the given directory, or creates a temporary one. */
export function openWorkspace(given: string | undefined): Workspace {
  if (given === undefined) {
    const path = makeScratch('workspace');
    return { path, isTemporary: true, dispose: () => discardTree(path) };
  }
  const path = resolve(given);
  if (!readable(path)?.isDirectory()) {
    throw new WorkcellError(
      'invalid-config',
      `The workspace ${path} is not a directory. Make it first, or name another one.`,
      {
        details: { workspace: path },
      },
    );
  }
  keepRemotesOf(path);
  return { path: realpathSync(path), isTemporary: false, dispose: async () => {} };
}

/** Most cells never need them, so a cell also starts when its owner cannot keep anything. */
function keepRemotesOf(path: string): void {
  try {
    keepRemotes(path);
  } catch {
    // The preset that needs them reports it.
  }
}

/** The file's state, if this user may look into it. */
function readable(path: string): Stats | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) accessSync(path, constants.R_OK | constants.X_OK);
    return found;
  } catch (cause) {
    throw new WorkcellError(
      'permission-denied',
      `You may not read the workspace ${path}. Name a directory that you can read, or change its permissions and those of the directories above it.`,
      { details: { workspace: path }, cause },
    );
  }
}
