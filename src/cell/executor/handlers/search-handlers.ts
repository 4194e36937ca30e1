import type { Launcher } from '../../launchers/launcher.js';
import { glob as findFiles } from '../files/search/find-by-glob.js';
import { grep as searchContents } from '../files/search/grep.js';
import type { Handler } from '../handler-context.js';

export const glob: Handler<'glob'> = async (
  { pattern, path, hidden, ignored, limit },
  { tree, launcher },
  { signal },
) => {
  return {
    observation: 'glob',
    ...(await findFiles(tree, {
      glob: pattern,
      path,
      hidden,
      ignored,
      limit,
      signal,
      launcher: contained(launcher),
    })),
  };
};

export const grep: Handler<'grep'> = async (action, { tree, launcher }, { signal }) => {
  return {
    observation: 'grep',
    ...(await searchContents(tree, { ...action, signal, launcher: contained(launcher) })),
  };
};

/** The launcher, where a search may start a program of the cell. */
function contained(launcher: Launcher): Launcher | undefined {
  return launcher.isContained ? launcher : undefined;
}
