/** The history of a repository. */
import { Pace } from '../../base/pace.js';
import type { Call } from '../verb-call.js';
import { changesBetween, type GitChange } from './git-changes.js';
import { fields, inspect, output, outputIfAny } from './git-command.js';
import { emptyTree, findHead, resolveCommit, resolveTree } from './revisions.js';

const format = ['%H', '%h', '%P', '%an', '%ae', '%aI', '%cn', '%cI', '%s', '%b'];

/** A commit of the repository. */
export interface GitCommit {
  readonly id: string;
  readonly shortId: string;
  readonly parents: readonly string[];
  readonly author: { readonly name: string; readonly email: string };
  /** ISO 8601, as are all times. */
  readonly authoredAt: string;
  readonly committer: string;
  readonly committedAt: string;
  readonly subject: string;
  readonly body: string;
}

export interface LogOptions {
  /** Where to begin. Default: the last commit. */
  readonly ref?: string | undefined;
  /** At most this many, newest first. Default: 50. */
  readonly limit?: number | undefined;
  readonly skip?: number | undefined;
  /** Only commits that changed one of these. */
  readonly paths?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** None where there is no commit yet. */
export async function findCommits(
  call: Call,
  cwd: string,
  { ref, limit = 50, skip = 0, paths = [], signal }: LogOptions = {},
): Promise<GitCommit[]> {
  const git = await inspect(call, cwd, signal);
  const start = ref === undefined ? await findHead(git) : await resolveCommit(git, ref);
  // Without a start there is no commit, or no repository, which the next question tells.
  if (start === undefined) {
    await output(git, ['rev-parse', '--git-dir']);
    return [];
  }
  const values = await fields(git, [
    'log',
    '-z',
    '--no-decorate',
    `--max-count=${Math.trunc(limit)}`,
    `--skip=${Math.trunc(skip)}`,
    `--format=tformat:${format.join('%x00')}`,
    start,
    '--',
    ...paths,
  ]);
  const commits: GitCommit[] = [];
  const pace = new Pace(signal);
  for (let at = 0; at + format.length <= values.length; at += format.length) {
    if (pace.isDue) await pace.step();
    commits.push(toCommit(values.slice(at, at + format.length)));
  }
  return commits;
}

/** What a commit changed, compared with its first parent. */
export async function findCommitChanges(call: Call, cwd: string, ref: string): Promise<GitChange[]> {
  const git = await inspect(call, cwd);
  const after = await resolveTree(git, ref);
  const parent = await outputIfAny(git, ['rev-parse', '--verify', '--quiet', `${ref}^1^{tree}`]);
  return changesBetween(git, parent ?? (await emptyTree(git)), { to: after });
}

function toCommit(values: readonly string[]): GitCommit {
  const [id = '', shortId = '', parents = '', name = '', email = '', authoredAt = '', committer = ''] =
    values;
  const [committedAt = '', subject = '', body = ''] = values.slice(7);
  return {
    id,
    shortId,
    parents: parents === '' ? [] : parents.split(' '),
    author: { name, email },
    authoredAt,
    committer,
    committedAt,
    subject,
    body: body.trimEnd(),
  };
}
