/** Which files differ from a state, in a repository and in those directly below it. */
import type { Call } from '../verb-call.js';
import { fieldsOf, type Git, inspect, output } from './git-command.js';
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

export async function findChanges(
  call: Call,
  path: string,
  options: ChangesOptions = {},
): Promise<GitChange[]> {
  const { signal, base } = options;
  const git = await inspect(call, path, signal);
  const own = (await isRepository(git)) ? await changesIn(git, options) : [];
  const nested = await nestedRepositories(call, path, own);
  const isNested = ({ path: changed }: GitChange) =>
    nested.some((name) => changed === name || changed.startsWith(`${name}/`));
  const changes = own.filter((change) => !isNested(change));
  for (const name of nested) {
    const inner = await inspect(call, `${path}/${name}`, signal);
    if (!(await isRepository(inner))) continue;
    // A name for a state of the outer repository says nothing about an inner one, unless it is the last commit.
    const found = await changesIn(inner, { ...options, base: base === 'HEAD' ? base : undefined });
    changes.push(...found.map((change) => beneath(name, change)));
  }
  return changes.filter((change) => !isDirectory(change)).sort(byPath);
}

/** The two states are trees or commits, given by their ids; without the second it is the working tree. */
export async function changesBetween(
  git: Git,
  from: string,
  { to, renames = false }: { to?: string; renames?: boolean | undefined } = {},
): Promise<GitChange[]> {
  const fields = fieldsOf(
    await output(git, [
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
    ]),
  );
  const changes: GitChange[] = [];
  for (let at = 0; at + 1 < fields.length; ) {
    const status = fields[at++] ?? '';
    const path = fields[at++] ?? '';
    if (status.startsWith('R')) changes.push({ status: 'renamed', from: path, path: fields[at++] ?? '' });
    else changes.push({ status: statusOf(status), path });
  }
  return changes;
}

async function changesIn(git: Git, { base, renames }: ChangesOptions): Promise<GitChange[]> {
  const from = await startOf(git, base);
  const [tracked, others] = await Promise.all([
    changesBetween(git, from, { renames }),
    output(git, ['ls-files', '--others', '--exclude-standard', '-z']),
  ]);
  const seen = new Map(tracked.map((change) => [change.path, change]));
  for (const path of fieldsOf(others)) {
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
