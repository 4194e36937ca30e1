/** The files that a search looks at, in the order of a walk. */
import { constants } from 'node:fs';
import type { Launcher } from '../../../launchers/launcher.js';
import type { Directory, OpenFile } from '../directory.js';
import type { Tree } from '../file-tree.js';
import { joinInside } from '../paths.js';
import type { Place } from '../resolve-beneath.js';
import { compileFileGlob } from './glob-pattern.js';
import { ignoresAbove } from './ignore-stack.js';
import { namedFiles } from './named-files.js';
import type { RipgrepRequest } from './ripgrep.js';
import { type FoundFile, walkFiles } from './walk-files.js';

export interface SearchOptions {
  /** Where to look: a directory, or one file. */
  readonly path: string;
  /** Only files whose path below that matches. */
  readonly glob?: string | undefined;
  readonly hidden?: boolean | undefined;
  readonly ignored?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface CandidateOptions extends SearchOptions {
  /** Starts the ripgrep of the cell for a large tree. */
  readonly launcher?: Launcher | undefined;
  /** Only files with a matching line are of interest; a pattern of ripgrep. */
  readonly lines?: Pick<RipgrepRequest, 'pattern' | 'ignoreCase'> | undefined;
  /** The search calls it when it skips something. */
  readonly onPartial: () => void;
  /** Called when ripgrep names files. */
  readonly onRipgrep: () => void;
}

export interface Candidate {
  /** As observations show it: from the workspace where it is in it. */
  readonly path: string;
  /** Opens it for reading; call it before you ask for the next candidate. The caller closes the descriptor. */
  open(): OpenFile;
}

/** The walk covers this many entries while a process starts, so ripgrep is for trees that have more. */
export const walkedEntries = 500;

/** Yields undefined for what it skips, so that a caller can pause and stop on the way. */
export async function* candidates(
  tree: Tree,
  options: CandidateOptions,
): AsyncGenerator<Candidate | undefined, void> {
  using place = tree.resolve(options.path, { follow: true });
  if (place.stats !== undefined && !place.stats.isDirectory()) {
    const isWanted = options.glob === undefined || compileFileGlob(options.glob)(place.name);
    const open = () => place.directory.openFile(place.name, constants.O_RDONLY);
    if (isWanted) yield { path: tree.space.fromWorkspace(place.path), open };
    return;
  }
  const start = place.directory.open(place.name);
  try {
    for await (const file of filesBelow(tree, place, start, options)) {
      if (file === undefined) yield undefined;
      else yield { ...file, path: tree.space.fromWorkspace(joinInside(place.path, file.path)) };
    }
  } finally {
    start.close();
  }
}

/** Walks over the first entries; asks ripgrep for the others, and walks on where there is none. */
async function* filesBelow(
  tree: Tree,
  place: Place,
  start: Directory,
  options: CandidateOptions,
): AsyncGenerator<FoundFile | undefined, void> {
  const glob = options.glob === undefined ? undefined : relativeGlob(options.glob, place.path);
  const matches = glob === undefined ? () => true : compileFileGlob(glob);
  const ignores = options.ignored ? undefined : ignoresAbove(tree, place.names);
  const request = ripgrepRequest(tree, place, ignores?.hasRules === true, options);
  let given = new Set<string>();
  let entries = 0;
  for (const file of walkFiles(start, { ...options, matches, ignores, names: place.names })) {
    if (entries++ === walkedEntries && request !== undefined) {
      const named = namedFiles(start, request, { ...options, matches, except: given });
      const { isComplete, names } = yield* named;
      if (isComplete) return;
      given = names;
    }
    if (file === undefined || given.has(file.path)) {
      yield undefined;
    } else {
      if (entries <= walkedEntries) given.add(file.path);
      yield file;
    }
  }
}

/** Undefined where ripgrep would see other files than the walk. */
function ripgrepRequest(
  tree: Tree,
  place: Place,
  hasRulesAbove: boolean,
  options: CandidateOptions,
): (RipgrepRequest & { launcher: Launcher }) | undefined {
  const { launcher, lines, hidden, ignored, signal } = options;
  if (launcher === undefined) return undefined;
  // Ripgrep would enter the file systems of the kernel, which the walk skips.
  if (tree.space.isWhole && place.names.length === 0) return undefined;
  // Ripgrep takes rules from all directories above, the walk only from those of the tree.
  if (hasRulesAbove && !tree.space.isWhole) return undefined;
  const cwd = tree.space.inside(place.names);
  return { launcher, cwd, ...lines, hidden, ignored, rulesAbove: hasRulesAbove, signal };
}

/** A pattern that starts with the path of the directory itself matches what is below it. */
function relativeGlob(glob: string, directory: string): string {
  const prefix = directory === '/' ? '/' : `${directory}/`;
  return glob.startsWith(prefix) ? `./${glob.slice(prefix.length)}` : glob;
}
