import type { Launcher } from '../../launchers/launcher.js';
import type { Tree } from '../files/file-tree.js';

/** The directory a process starts in, as seen from inside: the workspace, or a path that file verbs may reach too. */
export function workingDirectory(
  { files }: Pick<Launcher, 'files'>,
  tree: Tree,
  path: string | undefined,
): string {
  return path === undefined ? files.workspace : tree.checkDirectory(path);
}
