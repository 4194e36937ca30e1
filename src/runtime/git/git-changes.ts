/** Which files differ from a state, in a repository and in those directly below it. */
import { inTurns, Pace, type Steps } from '../../base/pace.js';
import type { Call } from '../verb-call.js';
import { fields, type Git, inspect, tooMuch } from './git-command.js';
import { emptyTree, findBase, findHead, isRepository, resolveTree } from './revisions.js';

/** A file that differs from a base. */
export interface GitChange {
  readonly status: 'added' | 'modified' | 'deleted' | 'renamed';
  /** Relative to the requested directory. */
  readonly path: string;
  /** Where a renamed file was before. */
  readonly from?: string;
}

export interface ChangesOptions {
  /** A ref. Default: where the branch left the default branch, else the last commit. */
  readonly base?: string | undefined;
  /** Reports a moved file as one change; without it as one deleted and one added. */
  readonly renames?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

const mostNested = 50;
/** In all of them. */
const mostChanges = 200_000;

export async function findChanges(
  call: Call,
  path: string,
  options: ChangesOptions = {},
): Promise<GitChange[]> {
  const { signal, base } = options;
  const git = await inspect(call, path, signal);
  const own = (await isRepository(git)) ? await changesIn(git, options) : [];
  const nested = await nestedRepositories(call, path, own);
  const pace = new Pace(signal);
  const changes: GitChange[] = [];
  for (const change of own) {
    if (pace.isDue) await pace.step();
    if (!isDirectory(change) && !isBelow(change.path, nested)) changes.push(change);
  }
  for (const name of nested) {
    const inner = await inspect(call, `${path}/${name}`, signal);
    if (!(await isRepository(inner))) continue;
    // A name for a state of the outer repository says nothing about an inner one, unless it is the last commit.
    const found = await changesIn(inner, { ...options, base: base === 'HEAD' ? base : undefined });
    for (const change of found) {
      if (pace.isDue) await pace.step();
      if (!isDirectory(change)) changes.push(beneath(name, change));
    }
    if (changes.length > mostChanges) throw tooMuch(['diff']);
  }
  return inTurns(sorted(changes, byPath), pace);
}

function isBelow(path: string, directories: readonly string[]): boolean {
  return directories.some(
    (name) => path.startsWith(name) && (path.length === name.length || path[name.length] === '/'),
  );
}

/** The two states are trees or commits, given by their ids; without the second it is the working tree. */
export async function changesBetween(
  git: Git,
  from: string,
  { to, renames = false }: { to?: string; renames?: boolean | undefined } = {},
): Promise<GitChange[]> {
  const found = await fields(git, [
    'diff',
    '--name-status',
    renames ? '--find-renames' : '--no-renames',
    '--no-ext-diff',
    '--no-textconv',
    '--relative',
    '-z',
    from,
    ...(to === undefined ? [] : [to]),
    '--',
  ]);
  const changes: GitChange[] = [];
  for (let at = 0; at + 1 < found.length; ) {
    const status = found[at++] ?? '';
    const path = found[at++] ?? '';
    if (status.startsWith('R')) changes.push({ status: 'renamed', from: path, path: found[at++] ?? '' });
    else changes.push({ status: statusOf(status), path });
  }
  return changes;
}

async function changesIn(git: Git, { base, renames }: ChangesOptions): Promise<GitChange[]> {
  const from = await startOf(git, base);
  const [tracked, others] = await Promise.all([
    changesBetween(git, from, { renames }),
    fields(git, ['ls-files', '--others', '--exclude-standard', '-z']),
  ]);
  const pace = new Pace(undefined);
  const seen = new Map(tracked.map((change) => [change.path, change]));
  for (const path of others) {
    if (pace.isDue) await pace.step();
    // A file that the state has and the index lacks is untracked, yet it still exists.
    seen.set(path, { path, status: seen.has(path) ? 'modified' : 'added' });
  }
  return [...seen.values()];
}

/** Before the first commit, `HEAD` is nothing at all. */
async function startOf(git: Git, base: string | undefined): Promise<string> {
  if (base === undefined) return findBase(git);
  if (base === 'HEAD') return (await findHead(git)) ?? emptyTree(git);
  return resolveTree(git, base);
}

/** Names of directories that are repositories themselves: one level down, or where git itself found one. */
async function nestedRepositories(call: Call, path: string, own: readonly GitChange[]): Promise<string[]> {
  const { entries } = await call.execute({ action: 'list', path, depth: 2, limit: 100_000 });
  const prefix = path === '/' ? '/' : `${path}/`;
  const inside = entries
    .filter(({ name }) => name === '.git')
    .map((entry) => entry.path)
    .filter((found) => found.startsWith(prefix))
    .map((found) => found.slice(prefix.length, -'/.git'.length))
    .filter((name) => name !== '' && !name.includes('/'));
  const found = own.filter(isDirectory).map((change) => change.path.slice(0, -1));
  return [...new Set([...inside, ...found])].slice(0, mostNested);
}

/** Lists of this length sort in a moment. */
const runLength = 4096;

/** Sorts short runs, and merges two neighbours until there is one. */
function* sorted<Item>(items: readonly Item[], compare: (a: Item, b: Item) => number): Steps<Item[]> {
  let runs: Item[][] = [];
  for (let start = 0; start < items.length; start += runLength) {
    runs.push(items.slice(start, start + runLength).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged: Item[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      merged.push(yield* merge(runs[at] ?? [], runs[at + 1] ?? [], compare));
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge<Item>(
  left: readonly Item[],
  right: readonly Item[],
  compare: (a: Item, b: Item) => number,
): Steps<Item[]> {
  const merged: Item[] = [];
  for (let l = 0, r = 0; l < left.length || r < right.length; ) {
    const isLeft = r >= right.length || (l < left.length && compare(left[l] as Item, right[r] as Item) <= 0);
    merged.push((isLeft ? left[l++] : right[r++]) as Item);
    if (merged.length % runLength === 0) yield;
  }
  return merged;
}

function beneath(name: string, change: GitChange): GitChange {
  const path = `${name}/${change.path}`;
  return change.from === undefined
    ? { ...change, path }
    : { ...change, path, from: `${name}/${change.from}` };
}

/** Git names an untracked directory instead of its files when the directory is itself a repository. */
function isDirectory({ path }: GitChange): boolean {
  return path.endsWith('/');
}

function byPath(a: GitChange, b: GitChange): number {
  return a.path < b.path ? -1 : 1;
}

function statusOf(letter: string): GitChange['status'] {
  if (letter.startsWith('A')) return 'added';
  return letter.startsWith('D') ? 'deleted' : 'modified';
}
