/** Lists branches, finds the current one, and names new ones. */
import { randomInt } from 'node:crypto';
import type { Call } from '../verb-call.js';
import { fields, inspect, output, outputIfAny, work } from './git-command.js';
import { checkName, resolveCommit } from './revisions.js';

/** A branch of the repository. */
export interface GitBranch {
  readonly name: string;
  readonly commit: string;
  readonly isCurrent: boolean;
  /** Such as `origin/main`; null when it follows none. */
  readonly upstream: string | null;
}

export interface CheckoutOptions {
  /** Makes the branch. */
  readonly create?: boolean | undefined;
  /** Where a new branch begins. Default: the last commit. */
  readonly from?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Null on a detached head. A repository without a commit has a branch already. */
export async function findBranch(call: Call, cwd: string, signal?: AbortSignal): Promise<string | null> {
  const git = await inspect(call, cwd, signal);
  await output(git, ['rev-parse', '--git-dir']);
  const ref = await outputIfAny(git, ['symbolic-ref', '--quiet', 'HEAD']);
  return ref === undefined ? null : ref.replace(/^refs\/heads\//, '');
}

export async function findBranches(call: Call, cwd: string, signal?: AbortSignal): Promise<GitBranch[]> {
  const git = await inspect(call, cwd, signal);
  const format = '%(refname:lstrip=2)%00%(objectname)%00%(HEAD)%00%(upstream:lstrip=2)%00';
  const values = await fields(git, ['for-each-ref', `--format=${format}`, 'refs/heads/']);
  const branches: GitBranch[] = [];
  for (let at = 0; at + 4 <= values.length; at += 4) {
    const [name = '', commit = '', head = '', upstream = ''] = values.slice(at, at + 4);
    branches.push({
      name: name.replace(/^\n/, ''),
      commit,
      isCurrent: head === '*',
      upstream: upstream === '' ? null : upstream,
    });
  }
  return branches;
}

/** Checks out a branch, or the commit of another name, with a detached head. */
export async function checkOut(
  call: Call,
  cwd: string,
  ref: string,
  options: CheckoutOptions,
): Promise<void> {
  const { create = false, from, signal } = options;
  const git = await inspect(call, cwd, signal);
  const act = work(call, cwd, { signal });
  const start = from === undefined ? [] : [await resolveCommit(git, from)];
  if (create) {
    await output(act, ['checkout', '--quiet', '-b', checkName('branch', ref), ...start, '--']);
    return;
  }
  if (await outputIfAny(git, ['rev-parse', '--verify', '--quiet', `refs/heads/${ref}^{commit}`])) {
    await output(act, ['checkout', '--quiet', checkName('branch', ref), '--']);
    return;
  }
  // A branch that only the server has becomes one here.
  const remote = `refs/remotes/origin/${ref}`;
  if (await outputIfAny(git, ['rev-parse', '--verify', '--quiet', `${remote}^{commit}`])) {
    await output(act, [
      'checkout',
      '--quiet',
      '-b',
      checkName('branch', ref),
      '--track',
      `origin/${ref}`,
      '--',
    ]);
    return;
  }
  await output(act, ['checkout', '--quiet', '--detach', await resolveCommit(git, ref), '--']);
}

/** `workcell-` and eight random letters and digits. */
export function workBranchName(): string {
  const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
  return `workcell-${Array.from({ length: 8 }, () => letters[randomInt(letters.length)]).join('')}`;
}
