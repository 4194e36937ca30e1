/** The repository of an archive, and facts about it. */
import { urlWithoutSecrets } from '../../../base/url-without-secrets.js';
import type { Executor } from '../../../protocol/index.js';
import { type Git, inspect, outputIfAny } from '../../../runtime/git/git-command.js';
import { emptyTree, findHead, resolveCommit } from '../../../runtime/git/revisions.js';
import { callOf } from '../../../runtime/verb-call.js';

const deepest = 3;
const mostPlaces = 1000;
/** Directories that may hold repositories which are not the workspace's own. */
const foreign = ['node_modules', 'venv', 'site-packages', 'vendor'];

/** The directory itself if it is a repository, else the only one that lies not far below it, else the directory. */
export async function findRoot(executor: Executor, path: string): Promise<string> {
  const found: string[] = [];
  let level = [path];
  for (let depth = 0; depth <= deepest && found.length < 2; depth++) {
    const below: string[] = [];
    for (const place of level.slice(0, mostPlaces)) {
      const listing = executor.execute<'list'>({ action: 'list', path: place, depth: 1, limit: 100_000 });
      // An unreadable directory offers nothing, unless it is the requested one.
      const { entries } = await (depth === 0 ? listing : listing.catch(() => ({ entries: [] })));
      if (entries.some(({ name }) => name === '.git')) found.push(place);
      else
        below.push(
          ...entries
            .filter(
              ({ type, name }) => type === 'directory' && !name.startsWith('.') && !foreign.includes(name),
            )
            .map((entry) => entry.path),
        );
    }
    if (depth === 0 && found.length > 0) break;
    level = below;
  }
  return found.length === 1 ? (found[0] ?? path) : path;
}

export interface Base {
  /** The id of a commit, or of the tree without files. */
  readonly id: string;
  readonly isCommit: boolean;
}

/**
 * Where a patch begins: at a state that a fresh clone has, too, so that you can apply the patch there. Without such a
 * state it begins at the empty tree.
 */
export async function findExportBase(git: Git, ref: string | undefined): Promise<Base> {
  const head = await findHead(git);
  if (ref !== undefined && (ref !== 'HEAD' || head !== undefined))
    return { id: await resolveCommit(git, ref), isCommit: true };
  const branch = await findBranch(git);
  const commit = head && (branch === undefined ? head : await findPushed(git, head, branch));
  return commit === undefined || ref === 'HEAD'
    ? { id: await emptyTree(git), isCommit: false }
    : { id: commit, isCommit: true };
}

/** The branch as its remote has it, else where it left the remote's default branch. */
async function findPushed(git: Git, head: string, branch: string): Promise<string | undefined> {
  const verify = ['rev-parse', '--verify', '--quiet'];
  const own = await outputIfAny(git, [...verify, `refs/remotes/origin/${branch}^{commit}`]);
  if (own !== undefined) return own;
  for (const name of ['HEAD', 'main', 'master']) {
    const tip = await outputIfAny(git, [...verify, `refs/remotes/origin/${name}^{commit}`]);
    const fork = tip && (await outputIfAny(git, ['merge-base', head, tip]));
    if (fork !== undefined) return fork;
  }
  return undefined;
}

function findBranch(git: Git): Promise<string | undefined> {
  return outputIfAny(git, ['symbolic-ref', '--quiet', '--short', 'HEAD']);
}

/** As headers, percent-encoded; none for a directory that is no repository which git can read. */
export async function describeRepository(executor: Executor, root: string): Promise<Record<string, string>> {
  const git = await inspect(callOf(executor), root).catch(() => undefined);
  if (git === undefined) return {};
  const top = await outputIfAny(git, ['rev-parse', '--show-toplevel']);
  if (top === undefined) return {};
  const [remote, head, branch] = await Promise.all([
    outputIfAny(git, ['config', '--get', 'remote.origin.url']),
    findHead(git),
    findBranch(git),
  ]);
  const told = {
    'x-archive-repo-remote': remote && urlWithoutSecrets(remote),
    'x-archive-branch': head && (branch ?? 'DETACHED'),
    'x-archive-head-commit': head,
    'x-archive-repo-root': root,
  };
  return Object.fromEntries(
    Object.entries(told).flatMap(([name, value]) => (value ? [[name, encodeURIComponent(value)]] : [])),
  );
}
