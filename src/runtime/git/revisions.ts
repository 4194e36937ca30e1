/** Finds the revision that a comparison starts from. */
import { WorkcellError } from '../../protocol/index.js';
import { failure, type Git, output, outputIfAny } from './git-command.js';

/** False for a directory that belongs to no repository. */
export async function isRepository(git: Git): Promise<boolean> {
  const args = ['rev-parse', '--git-dir'];
  const result = await git(args);
  if (result.exitCode === 0) return true;
  const error = failure(args, result);
  if (error.code === 'not-a-repository') return false;
  throw error;
}

/** The commit that a name refers to. */
export function resolveCommit(git: Git, ref: string): Promise<string> {
  return resolve(git, ref, 'commit');
}

/** The tree that a name refers to. */
export function resolveTree(git: Git, ref: string): Promise<string> {
  return resolve(git, ref, 'tree');
}

async function resolve(git: Git, ref: string, kind: 'commit' | 'tree'): Promise<string> {
  const id = isName(ref)
    ? await outputIfAny(git, ['rev-parse', '--verify', '--quiet', `${ref}^{${kind}}`])
    : undefined;
  if (id !== undefined) return id;
  if (!(await isRepository(git)))
    throw new WorkcellError('not-a-repository', 'There is no git repository here.');
  throw new WorkcellError('unknown-ref', `There is no ref ${JSON.stringify(ref)} in this repository.`, {
    details: { ref },
  });
}

/** Git would read a leading dash as an option, and it reads no name across lines. */
function isName(ref: string): boolean {
  return /^[^\s\0-][^\0\n]*$/.test(ref);
}

/** Throws for a name that no branch, tag or remote may have. */
export function checkName(kind: string, name: string): string {
  const bad =
    !isName(name) ||
    /[\s~^:?*[\\\x00-\x1f\x7f]|\.\.|@\{|\/\/|^\/|\/$|\.$|^\.|\/\.|\.lock(\/|$)|^@$/.test(name) ||
    name.length > 250;
  if (!bad) return name;
  throw new WorkcellError('invalid-action', `${JSON.stringify(name)} cannot be the name of a ${kind}.`, {
    details: { [kind]: name },
  });
}

/** The last commit, if there is one. */
export function findHead(git: Git): Promise<string | undefined> {
  return outputIfAny(git, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']);
}

/** Where the work began: the fork from the default branch, else the last commit, else nothing at all. */
export async function findBase(git: Git): Promise<string> {
  const head = await findHead(git);
  if (head === undefined) return emptyTree(git);
  const branch = await defaultBranch(git);
  const fork = branch === undefined ? undefined : await outputIfAny(git, ['merge-base', head, branch]);
  return fork ?? head;
}

export function emptyTree(git: Git): Promise<string> {
  return output(git, ['hash-object', '-t', 'tree', '/dev/null']);
}

async function defaultBranch(git: Git): Promise<string | undefined> {
  const remote = await outputIfAny(git, [
    'rev-parse',
    '--verify',
    '--quiet',
    'refs/remotes/origin/HEAD^{commit}',
  ]);
  if (remote !== undefined) return remote;
  const names = [
    'refs/remotes/origin/main',
    'refs/remotes/origin/master',
    'refs/heads/main',
    'refs/heads/master',
  ];
  const found = await output(git, ['for-each-ref', '--format=%(refname)', ...names]);
  const present = new Set(found.split('\n'));
  return names.find((name) => present.has(name));
}
