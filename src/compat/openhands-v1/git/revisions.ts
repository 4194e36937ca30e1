/** Which state of a repository others are compared with. */
import { Refusal } from '../errors.js';
import { type Git, output, outputIfAny } from './git.js';

/** False for a directory that belongs to no repository. Other troubles of git are a 400. */
export async function isRepository(git: Git): Promise<boolean> {
  const { exitCode, stderr } = await git(['rev-parse', '--git-dir']);
  if (exitCode === 0) return true;
  if (stderr.includes('not a git repository')) return false;
  throw new Refusal(400, `git cannot use this directory: ${stderr.trim()}`);
}

/** The tree that a name stands for; a name that is none is a 400. */
export async function resolveRef(git: Git, ref: string): Promise<string> {
  // A name that begins with a dash would be an option.
  const tree = /^[^\s\0-][^\0\n]*$/.test(ref)
    ? await outputIfAny(git, ['rev-parse', '--verify', '--quiet', `${ref}^{tree}`])
    : undefined;
  if (tree === undefined)
    throw new Refusal(400, `There is no ref ${JSON.stringify(ref)} in this repository.`);
  return tree;
}

/** Where the work began: the fork from the default branch, else the last commit, else nothing at all. */
export async function findBase(git: Git): Promise<string> {
  const head = await outputIfAny(git, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']);
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
