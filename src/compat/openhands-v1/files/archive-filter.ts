/** Which members to leave out of an archive, in time that grows with the length of a name and no faster. */
import { withoutEnd } from '../../../base/without-end.js';
import { expandBraces } from '../../../cell/executor/files/search/expand-braces.js';
import { compilePath } from '../../../cell/executor/files/search/glob-pattern.js';

export type ArchiveFilter = (name: string, isDirectory: boolean) => boolean;

/**
 * Leaves a member out when a glob matches it or a directory above it, or when it may hold credentials. A glob without
 * a slash means a name at any depth, one with a slash at its end only directories.
 */
export function createArchiveFilter(globs: readonly string[]): ArchiveFilter {
  const matchers = globs.flatMap((glob) =>
    expandBraces(withoutEnd(glob, '/')).map((alternative) => {
      const options = { anchored: alternative.includes('/') };
      const relative = alternative.replace(/^(\.?\/)+/, '');
      return {
        matches: compilePath(relative, options),
        matchesAbove: compilePath(`${relative}/**`, options),
        onlyDirectories: glob.endsWith('/'),
      };
    }),
  );
  return (name, isDirectory) => {
    const parts = name.split('/').filter((part) => part !== '');
    const path = parts.join('/');
    return (
      holdsCredentials(parts) ||
      matchers.some(
        ({ matches, matchesAbove, onlyDirectories }) =>
          ((isDirectory || !onlyDirectories) && matches(path)) || matchesAbove(path),
      )
    );
  };
}

/**
 * Files in which git remembers where and as whom it connected: in a repository, and in the repositories inside its
 * own directory.
 */
const files = new Set(['config', 'config.worktree', 'credentials', 'FETCH_HEAD', 'logs']);
const holders = new Set(['modules', 'worktrees']);

function holdsCredentials(parts: readonly string[]): boolean {
  let isHeld = false;
  return parts.some((part, index) => {
    // One name at least stands between the directory of repositories and what belongs to one of them.
    isHeld ||= parts[index - 3] === '.git' && holders.has(parts[index - 2] ?? '');
    return files.has(part) && (isHeld || parts[index - 1] === '.git');
  });
}
