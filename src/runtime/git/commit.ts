/** Records the work. Hooks and filters of the repository take part, inside the cell. */
import type { Call } from '../verb-call.js';
import { output, work } from './git-command.js';
import { findCommits, type GitCommit } from './git-log.js';

interface Author {
  readonly name: string;
  readonly email: string;
}

export interface CommitOptions {
  /** Only these, relative to the directory. Default: everything that changed, new files included. */
  readonly paths?: readonly string[] | undefined;
  /** Records the staged changes, and nothing else. */
  readonly staged?: boolean | undefined;
  /** Default: as configured in the cell, else `Workcell <workcell@localhost>`. */
  readonly author?: Author | undefined;
  readonly allowEmpty?: boolean | undefined;
  /** Runs the hooks of the repository. Default: true. */
  readonly hooks?: boolean | undefined;
  /** Default: ten minutes, since hooks may run tests. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const nobody = { name: 'Workcell', email: 'workcell@localhost' };

export async function makeCommit(
  call: Call,
  cwd: string,
  message: string,
  options: CommitOptions,
): Promise<GitCommit> {
  const { paths, staged = false, author, allowEmpty, hooks = true, timeoutMs = 600_000, signal } = options;
  const git = work(call, cwd, {
    signal,
    settings: hooks ? [] : [['core.hooksPath', '/dev/null']],
    env: {
      ...(author === undefined ? {} : identity('AUTHOR', author)),
      ...((await hasIdentity(call, cwd, signal)) ? {} : unknown(author)),
    },
  });
  if (!staged) await output(git, paths === undefined ? ['add', '--all'] : ['add', '--all', '--', ...paths]);
  const flags = [...(allowEmpty ? ['--allow-empty'] : []), ...(hooks ? [] : ['--no-verify'])];
  const only = paths === undefined || staged ? [] : ['--only', '--', ...paths];
  await output(git, ['commit', '--quiet', '--file=-', ...flags, ...only], { stdin: message, timeoutMs });
  const [commit] = await findCommits(call, cwd, { limit: 1, signal });
  if (commit === undefined) throw new Error('A commit was made and is not there.');
  return commit;
}

function identity(role: 'AUTHOR' | 'COMMITTER', { name, email }: Author): Record<string, string> {
  return { [`GIT_${role}_NAME`]: name, [`GIT_${role}_EMAIL`]: email };
}

function unknown(author: Author = nobody): Record<string, string> {
  return { ...identity('AUTHOR', author), ...identity('COMMITTER', author) };
}

async function hasIdentity(call: Call, cwd: string, signal: AbortSignal | undefined): Promise<boolean> {
  const git = work(call, cwd, { signal, settings: [['user.useConfigOnly', 'true']] });
  return (await git(['var', 'GIT_COMMITTER_IDENT'])).exitCode === 0;
}
