/** Several working trees of one repository. */
import { posix } from 'node:path';
import type { Call } from '../verb-call.js';
import { fields, inspect, output, outputIfAny, work } from './git-command.js';
import { checkName, resolveCommit } from './revisions.js';

/** A working tree of the repository. */
export interface GitWorktree {
  readonly path: string;
  /** Null before the first commit. */
  readonly head: string | null;
  /** Null on a detached head. */
  readonly branch: string | null;
  readonly isLocked: boolean;
  /** True when its directory no longer exists. */
  readonly isPrunable: boolean;
}

export interface AddWorktreeOptions {
  /** The branch to check out there; made when there is none. Default: named after the directory. */
  readonly branch?: string | undefined;
  /** Where a new branch begins. Default: the last commit. */
  readonly from?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export async function findWorktrees(call: Call, cwd: string, signal?: AbortSignal): Promise<GitWorktree[]> {
  const git = await inspect(call, cwd, signal);
  const trees: GitWorktree[] = [];
  let lines = new Map<string, string>();
  // An empty field ends each entry.
  for (const field of await fields(git, ['worktree', 'list', '--porcelain', '-z'])) {
    const [key = '', ...value] = field.split(' ');
    if (field !== '') {
      lines.set(key, value.join(' '));
      continue;
    }
    const head = lines.get('HEAD') ?? '';
    trees.push({
      path: lines.get('worktree') ?? '',
      head: /^0*$/.test(head) ? null : head,
      branch: lines.get('branch')?.replace(/^refs\/heads\//, '') ?? null,
      isLocked: lines.has('locked'),
      isPrunable: lines.has('prunable'),
    });
    lines = new Map();
  }
  return trees;
}

export async function addWorktree(
  call: Call,
  cwd: string,
  path: string,
  { branch = posix.basename(path), from, signal }: AddWorktreeOptions,
): Promise<void> {
  const git = await inspect(call, cwd, signal);
  const name = checkName('branch', branch);
  const exists = await outputIfAny(git, ['rev-parse', '--verify', '--quiet', `refs/heads/${name}^{commit}`]);
  const what = exists ? [path, name] : ['-b', name, path, await resolveCommit(git, from ?? 'HEAD')];
  await output(work(call, cwd, { signal }), ['worktree', 'add', '--quiet', ...what]);
}

export async function removeWorktree(
  call: Call,
  cwd: string,
  path: string,
  { force = false, signal }: { force?: boolean | undefined; signal?: AbortSignal | undefined },
): Promise<void> {
  const flags = force ? ['--force', '--force'] : [];
  await output(work(call, cwd, { signal }), ['worktree', 'remove', ...flags, '--', path]);
}
