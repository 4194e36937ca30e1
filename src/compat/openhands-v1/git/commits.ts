/** The history of a repository. */
import type { Executor } from '../../../protocol/index.js';
import { changesBetween, type GitChange } from './changes.js';
import { fieldsOf, gitIn, output, outputIfAny } from './git.js';
import { emptyTree, isRepository, resolveRef } from './revisions.js';

const fields = ['%H', '%h', '%s', '%an', '%aI'];

export interface GitCommit {
  readonly sha: string;
  readonly short_sha: string;
  readonly subject: string;
  readonly author: string;
  readonly timestamp: string;
}

export async function findCommits(
  executor: Executor,
  path: string,
  limit: number,
): Promise<{ commits: GitCommit[]; has_more: boolean }> {
  const git = gitIn(executor, path);
  const hasCommits =
    (await isRepository(git)) && (await outputIfAny(git, ['rev-parse', '--verify', '--quiet', 'HEAD']));
  if (!hasCommits) return { commits: [], has_more: false };
  const format = `--format=tformat:${fields.join('%x00')}`;
  const values = fieldsOf(await output(git, ['log', '-z', `--max-count=${limit + 1}`, format]));
  const commits: GitCommit[] = [];
  for (let at = 0; at + fields.length <= values.length; at += fields.length) {
    const [sha = '', short_sha = '', subject = '', author = '', timestamp = ''] = values.slice(at);
    commits.push({ sha, short_sha, subject, author, timestamp });
  }
  return { commits: commits.slice(0, limit), has_more: commits.length > limit };
}

/** What a commit changed, compared with its first parent. */
export async function findCommitChanges(executor: Executor, path: string, sha: string): Promise<GitChange[]> {
  const git = gitIn(executor, path);
  if (!(await isRepository(git))) return [];
  const after = await resolveRef(git, sha);
  const parent = await outputIfAny(git, ['rev-parse', '--verify', '--quiet', `${sha}^1^{tree}`]);
  return changesBetween(git, parent ?? (await emptyTree(git)), after);
}
