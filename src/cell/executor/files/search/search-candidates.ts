/** The files that a search looks at, in the order of their paths. */
import type { Directory, Name } from '../directory.js';
import { errnoOf } from '../file-errors.js';
import type { Tree } from '../file-tree.js';
import { joinInside } from '../paths.js';
import { maxDepth, visit } from '../visit.js';
import { compileGlob } from './glob-pattern.js';
import { IgnoreStack } from './ignore-stack.js';

export interface SearchOptions {
  /** Where to look: a directory, or one file. */
  readonly path: string;
  /** Only files whose path below that matches. */
  readonly glob?: string | undefined;
  readonly hidden?: boolean | undefined;
  readonly ignored?: boolean | undefined;
  /** Called when a directory has more names than are looked at. */
  readonly onPartial?: (() => void) | undefined;
}

export interface Candidate {
  readonly directory: Directory;
  readonly name: Name;
  /** As observations show it: from the workspace where it is in it. */
  readonly path: string;
}

/** Yields undefined for what it skips, so that a caller can pause and stop on the way. */
export function* candidates(tree: Tree, options: SearchOptions): Generator<Candidate | undefined, void> {
  using place = tree.resolve(options.path, { follow: true });
  if (place.stats !== undefined && !place.stats.isDirectory()) {
    const matches = options.glob === undefined ? undefined : compileGlob(options.glob);
    if (matches?.(place.name) === false) return;
    yield { directory: place.directory, name: place.name, path: tree.space.fromWorkspace(place.path) };
    return;
  }
  const directory = place.directory.open(place.name);
  try {
    yield* below(tree, directory, place, options);
  } finally {
    directory.close();
  }
}

function* below(
  tree: Tree,
  start: Directory,
  place: { path: string; names: readonly string[] },
  options: SearchOptions,
): Generator<Candidate | undefined, void> {
  const matches =
    options.glob === undefined ? () => true : compileGlob(relativeGlob(options.glob, place.path));
  const ignores = options.ignored ? undefined : ignoresAbove(tree, place.names);
  const fromRoot = (relativePath: string) =>
    [...place.names, relativePath].filter((part) => part !== '').join('/');
  const visits = visit(start, {
    depth: maxDepth,
    onEnter: (directory, relativePath) => ignores?.enter(directory, fromRoot(relativePath)),
    onLeave: () => ignores?.leave(),
    onPartial: options.onPartial,
    accept: (entry, relativePath) => {
      const verdict = ignores?.judge(fromRoot(relativePath), entry.isDirectory);
      if (verdict !== undefined) return verdict === 'kept';
      if (entry.text.startsWith('.') && !options.hidden) return false;
      return entry.text !== '.git' || options.ignored === true;
    },
  });
  for (const found of visits) {
    if (found === undefined) {
      yield undefined;
      continue;
    }
    const { directory, entry, relativePath, isAccepted } = found;
    const isWanted = isAccepted && entry.isFile && matches(relativePath);
    const path = isWanted ? tree.space.fromWorkspace(joinInside(place.path, relativePath)) : '';
    yield isWanted ? { directory, name: entry.name, path } : undefined;
  }
}

/** A pattern that starts with the path of the directory itself means what is below it. */
function relativeGlob(glob: string, directory: string): string {
  const prefix = directory === '/' ? '/' : `${directory}/`;
  return glob.startsWith(prefix) ? `./${glob.slice(prefix.length)}` : glob;
}

/** Rules of the directories above count too, but not those of the directory itself: the walk enters it later. */
function ignoresAbove(tree: Tree, names: readonly string[]): IgnoreStack {
  const ignores = new IgnoreStack();
  let directory = tree.root.open('.');
  try {
    for (const [index, name] of names.entries()) {
      ignores.enter(directory, names.slice(0, index).join('/'));
      const next = directory.open(name);
      directory.close();
      directory = next;
    }
  } catch (error) {
    // The way was changed meanwhile; the search itself holds what it opened.
    if (errnoOf(error) === undefined) throw error;
  } finally {
    directory.close();
  }
  return ignores;
}
