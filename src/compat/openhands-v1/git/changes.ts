/** Which files differ from a state, in a repository and in those directly below it. */
import type { Executor } from '../../../protocol/index.js';
import { fieldsOf, type Git, gitIn, output } from './git.js';
import { findBase, isRepository, resolveRef } from './revisions.js';

export interface GitChange {
  readonly status: 'ADDED' | 'UPDATED' | 'DELETED';
  /** From the directory that was asked about. */
  readonly path: string;
}

const mostNested = 50;

export async function findChanges(executor: Executor, path: string, ref?: string): Promise<GitChange[]> {
  const git = gitIn(executor, path);
  const own = (await isRepository(git)) ? await changesIn(git, ref) : [];
  const nested = await nestedRepositories(executor, path, own);
  const isNested = ({ path: changed }: GitChange) =>
    nested.some((name) => changed === name || changed.startsWith(`${name}/`));
  const changes = own.filter((change) => !isNested(change));
  for (const name of nested) {
    const inner = gitIn(executor, `${path}/${name}`);
    if (!(await isRepository(inner))) continue;
    // A name for a state of the outer repository says nothing about an inner one, unless it is the last commit.
    const found = await changesIn(inner, ref === 'HEAD' ? ref : undefined);
    changes.push(...found.map((change) => ({ ...change, path: `${name}/${change.path}` })));
  }
  return changes.filter((change) => !isDirectory(change)).sort(byPath);
}

/** The two states are trees or commits, given by their ids. */
export async function changesBetween(git: Git, from: string, to?: string): Promise<GitChange[]> {
  const states = to === undefined ? [from] : [from, to];
  const text = await output(git, [
    'diff',
    '--name-status',
    '--no-renames',
    '--no-ext-diff',
    '--no-textconv',
    '--relative',
    '-z',
    ...states,
    '--',
  ]);
  const fields = fieldsOf(text);
  return fields.flatMap((status, index) =>
    index % 2 === 0 ? [{ status: statusOf(status), path: fields[index + 1] ?? '' }] : [],
  );
}

async function changesIn(git: Git, ref: string | undefined): Promise<GitChange[]> {
  const base = ref === undefined ? await findBase(git) : await resolveRef(git, ref);
  const tracked = await changesBetween(git, base);
  const untracked = fieldsOf(await output(git, ['ls-files', '--others', '--exclude-standard', '-z']));
  const seen = new Map(tracked.map((change) => [change.path, change]));
  for (const path of untracked) {
    // A file that the state has and the index lacks is no longer tracked, yet it is still there.
    seen.set(path, { path, status: seen.has(path) ? 'UPDATED' : 'ADDED' });
  }
  return [...seen.values()];
}

/** Names of directories that are repositories of their own: one level down, or where git itself came upon one. */
async function nestedRepositories(
  executor: Executor,
  path: string,
  own: readonly GitChange[],
): Promise<string[]> {
  const { entries } = await executor.execute<'list'>({ action: 'list', path, depth: 2, limit: 100_000 });
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

/** Git names an untracked directory instead of its files when that is a repository of its own. */
function isDirectory({ path }: GitChange): boolean {
  return path.endsWith('/');
}

function byPath(a: GitChange, b: GitChange): number {
  return a.path < b.path ? -1 : 1;
}

function statusOf(letter: string): GitChange['status'] {
  if (letter.startsWith('A')) return 'ADDED';
  return letter.startsWith('D') ? 'DELETED' : 'UPDATED';
}
