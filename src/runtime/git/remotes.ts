/** Exchanges commits with servers. With a token nothing of the repository's own settings takes part. */
import { posix } from 'node:path';
import { WorkcellError } from '../../protocol/index.js';
import type { Call } from '../verb-call.js';
import { findBranch } from './branches.js';
import { remoteUrl, type TokenOptions, transferWithToken } from './credential.js';
import { type Git, inspect, output, outputIfAny, work } from './git-command.js';
import { checkUrl, directoryFor } from './remote-url.js';
import { checkName, findHead } from './revisions.js';

const patienceMs = 600_000;

interface TransferOptions extends TokenOptions {
  /** Default: ten minutes. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface CloneOptions extends TransferOptions {
  /** A branch or tag. Default: the server's current branch. */
  readonly branch?: string | undefined;
  /** Only this many commits of the history. */
  readonly depth?: number | undefined;
  /** Default: the last part of the address, below the workspace. */
  readonly into?: string | undefined;
}

export interface FetchOptions extends TransferOptions {
  /** Default: `origin`. */
  readonly remote?: string | undefined;
  /** Default: all. */
  readonly branch?: string | undefined;
  readonly depth?: number | undefined;
  /** Forgets branches that the server no longer has. */
  readonly prune?: boolean | undefined;
}

export interface PushOptions extends TransferOptions {
  /** Default: `origin`. */
  readonly remote?: string | undefined;
  /** Default: the current branch. */
  readonly branch?: string | undefined;
  /** Replaces the server's branch, unless somebody else has pushed there meanwhile. */
  readonly force?: boolean | undefined;
}

/** Returns the directory of the clone. */
export async function clone(call: Call, cwd: string, url: string, options: CloneOptions): Promise<string> {
  const { branch, depth, into, timeoutMs = patienceMs, signal } = options;
  const address = checkUrl(url);
  const path = posix.resolve(cwd, into ?? directoryFor(address));
  const git = transfer(call, cwd, address, options);
  const flags = ['--no-checkout', '--template=', '--origin=origin', '--no-recurse-submodules'];
  if (branch !== undefined) flags.push(`--branch=${checkName('branch', branch)}`);
  if (depth !== undefined) flags.push(`--depth=${Math.trunc(depth)}`, '--no-local');
  const isNew = await isMissing(call, path);
  try {
    await output(git, ['clone', '--quiet', ...flags, '--', address, path], { timeoutMs });
    // Files come only now: their filters must not run while the token is in reach.
    const isEmpty = (await findHead(await inspect(call, path, signal))) === undefined;
    if (!isEmpty)
      await output(work(call, path, { signal }), ['checkout', '--quiet', 'HEAD', '--'], { timeoutMs });
    return path;
  } catch (error) {
    // Git itself cleans up, unless something killed it.
    if (isNew) await call.execute({ action: 'remove', path, recursive: true, force: true }).catch(() => {});
    throw error;
  }
}

async function isMissing(call: Call, path: string): Promise<boolean> {
  try {
    await call.execute({ action: 'stat', path });
    return false;
  } catch (error) {
    return WorkcellError.isInstance(error) && error.code === 'not-found';
  }
}

export async function fetchFrom(call: Call, cwd: string, options: FetchOptions): Promise<void> {
  const { branch, depth, prune, timeoutMs = patienceMs } = options;
  const remote = checkName('remote', options.remote ?? 'origin');
  const git = await transferTo(call, cwd, remote, options);
  const flags = ['--quiet', '--no-recurse-submodules', '--no-write-fetch-head'];
  if (prune) flags.push('--prune');
  if (depth !== undefined) flags.push(`--depth=${Math.trunc(depth)}`);
  const what =
    branch === undefined
      ? []
      : [`+refs/heads/${checkName('branch', branch)}:refs/remotes/${remote}/${branch}`];
  await output(git, ['fetch', ...flags, '--', remote, ...what], { timeoutMs });
}

/** Brings the current branch forward to the server's state. Throws when the histories have diverged. */
export async function pull(call: Call, cwd: string, options: FetchOptions): Promise<void> {
  const { signal, remote = 'origin' } = options;
  const branch = options.branch ?? (await currentBranch(call, cwd, signal));
  await fetchFrom(call, cwd, { ...options, branch });
  await output(work(call, cwd, { signal }), [
    'merge',
    '--quiet',
    '--ff-only',
    `refs/remotes/${remote}/${branch}`,
  ]);
}

export async function push(call: Call, cwd: string, options: PushOptions): Promise<void> {
  const { force, timeoutMs = patienceMs, signal } = options;
  const remote = checkName('remote', options.remote ?? 'origin');
  const branch = checkName('branch', options.branch ?? (await currentBranch(call, cwd, signal)));
  const git = await transferTo(call, cwd, remote, options, { push: true });
  const flags = ['--quiet', '--set-upstream', ...(force ? [`--force-with-lease=refs/heads/${branch}`] : [])];
  await output(git, ['push', ...flags, '--', remote, `refs/heads/${branch}:refs/heads/${branch}`], {
    timeoutMs,
  });
}

export async function findRemoteUrl(
  call: Call,
  cwd: string,
  remote: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const git = await inspect(call, cwd, signal);
  return outputIfAny(git, ['remote', 'get-url', '--', checkName('remote', remote)]);
}

function transfer(call: Call, cwd: string, url: string, { token, username, signal }: TransferOptions): Git {
  return token === undefined
    ? work(call, cwd, { signal })
    : transferWithToken(call, cwd, { url, token, username, signal });
}

async function transferTo(
  call: Call,
  cwd: string,
  remote: string,
  options: TransferOptions,
  direction: { push?: boolean } = {},
): Promise<Git> {
  if (options.token === undefined) return transfer(call, cwd, '', options);
  return transfer(call, cwd, checkUrl(await remoteUrl(call, cwd, remote, direction)), options);
}

async function currentBranch(call: Call, cwd: string, signal: AbortSignal | undefined): Promise<string> {
  const branch = await findBranch(call, cwd, signal);
  if (branch !== null) return branch;
  throw new WorkcellError('git-failed', 'No branch is checked out here; name one as branch.');
}
