/** The directory an agent works in: one that was given, or a temporary one that goes with the cell. */
import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { discardTree } from '../base/remove-tree.js';
import { makeScratch } from '../cell/launchers/scratch.js';
import { WorkcellError } from '../protocol/index.js';

export interface Workspace {
  readonly path: string;
  /** Removes it if it is temporary. */
  dispose(): Promise<void>;
}

export function openWorkspace(given: string | undefined): Workspace {
  if (given === undefined) {
    const path = makeScratch('workspace');
    return { path, dispose: () => discardTree(path) };
  }
  const path = resolve(given);
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new WorkcellError(
      'invalid-config',
      `The workspace ${path} is not a directory. Make it first, or name another one.`,
      {
        details: { workspace: path },
      },
    );
  }
  return { path: realpathSync(path), dispose: async () => {} };
}
