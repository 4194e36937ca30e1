/** The files that the ripgrep of the cell names, as a search takes them. */
import { constants } from 'node:fs';
import type { Launcher } from '../../../launchers/launcher.js';
import type { Directory, OpenFile } from '../directory.js';
import { compareNames } from '../paths.js';
import type { PathMatcher } from './glob-pattern.js';
import { type RipgrepRequest, ripgrep } from './ripgrep.js';
import type { FoundFile } from './walk-files.js';

/** It remembers no more, and marks the result as incomplete. */
const mostFiles = 200_000;

/** Between two chances to pause. */
const skippedAtOnce = 16;

interface Named {
  /** False when a walk has to find the rest. */
  readonly isComplete: boolean;
  readonly names: Set<string>;
}

export async function* namedFiles(
  start: Directory,
  request: RipgrepRequest & { launcher: Launcher },
  options: {
    readonly matches: PathMatcher;
    /** Files that the search knows already. */
    readonly except: ReadonlySet<string>;
    readonly onPartial: () => void;
    readonly onRipgrep: () => void;
  },
): AsyncGenerator<FoundFile | undefined, Named> {
  const names = new Set<string>();
  const naming = ripgrep(request.launcher, request);
  let last = '';
  let skipped = 0;
  try {
    for (;;) {
      const step = await naming.next();
      if (step.done) {
        if (step.value === 'complete') options.onRipgrep();
        if (step.value === 'late') options.onPartial();
        return { isComplete: step.value !== 'failed', names };
      }
      options.onRipgrep();
      for (const path of step.value) {
        // A limit cuts the result off in the order of the walk, so another order would leave out the wrong files.
        if (compareInWalk(last, path) >= 0) return { isComplete: false, names };
        last = path;
        if (!options.matches(path) || options.except.has(path)) {
          if (++skipped % skippedAtOnce === 0) yield undefined;
          continue;
        }
        if (names.size >= mostFiles) {
          options.onPartial();
          return { isComplete: true, names };
        }
        names.add(path);
        yield { path, open: () => openBelow(start, path) };
      }
    }
  } finally {
    await naming.return('failed');
  }
}

/** Compares entry by entry: the content of a directory comes before a name that only begins like the directory's. */
function compareInWalk(a: string, b: string): number {
  return compareNames(a.replaceAll('/', '\0'), b.replaceAll('/', '\0'));
}

/** Follows no link on the way: the walk does not, and a directory may have become a link. */
function openBelow(start: Directory, path: string): OpenFile {
  const names = path.split('/');
  const name = names.pop() ?? '';
  let directory = start;
  try {
    for (const next of names) {
      const opened = directory.open(next);
      if (directory !== start) directory.close();
      directory = opened;
    }
    return directory.openFile(name, constants.O_RDONLY);
  } finally {
    if (directory !== start) directory.close();
  }
}
