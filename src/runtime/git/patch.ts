/** The difference between two states as a patch. */
import { Pace } from '../../base/pace.js';
import type { Call } from '../verb-call.js';
import { fields, type Git, inspect, output } from './git-command.js';
import { findBase, resolveTree } from './revisions.js';

/** A patch that `git apply` takes, with counts for each file. */
export interface GitPatch {
  /** Unified diff, which `git apply` takes, unless `truncated`. */
  readonly patch: string;
  readonly truncated: boolean;
  readonly files: readonly GitFilePatch[];
}

interface GitFilePatch {
  readonly path: string;
  readonly from?: string;
  /** Lines; zero where `isBinary`. */
  readonly added: number;
  readonly deleted: number;
  readonly isBinary: boolean;
}

export interface DiffOptions {
  /** A ref. Default: where the branch left the default branch, else the last commit. */
  readonly base?: string | undefined;
  /** A ref. Default: the working tree. */
  readonly to?: string | undefined;
  readonly paths?: readonly string[] | undefined;
  readonly contextLines?: number | undefined;
  /** Includes untracked files, when `to` is the working tree. Default: true. */
  readonly untracked?: boolean | undefined;
  /** Includes the content of binary files, so that you can apply the patch. */
  readonly binary?: boolean | undefined;
  /** Default: 16 MiB. */
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const mostUntracked = 200;
const plainPatch = ['--no-ext-diff', '--no-textconv', '--no-color'];

export async function findPatch(call: Call, cwd: string, options: DiffOptions = {}): Promise<GitPatch> {
  const { base, to, paths = [], contextLines = 3, untracked = true, maxBytes = 16_777_216, signal } = options;
  const git = await inspect(call, cwd, signal);
  await output(git, ['rev-parse', '--git-dir']);
  const from = base === undefined ? await findBase(git) : await resolveTree(git, base);
  const states = to === undefined ? [from] : [from, await resolveTree(git, to)];
  const how = [
    ...plainPatch,
    `--unified=${Math.trunc(contextLines)}`,
    ...(options.binary ? ['--binary'] : []),
  ];
  const tracked = ['--find-renames', '--relative', ...states, '--', ...paths];
  const [stats, { stdout, truncated }] = await Promise.all([
    fields(git, ['diff', ...plainPatch, '--numstat', '-z', ...tracked]),
    git(['diff', ...how, '--patch', ...tracked], { maxOutputBytes: maxBytes }),
  ]);
  const files = await toFiles(stats);
  if (to !== undefined || !untracked) return { patch: stdout, truncated, files };
  return addUntracked(git, { patch: stdout, truncated, files }, { how, paths, maxBytes });
}

async function addUntracked(
  git: Git,
  found: GitPatch,
  { how, paths, maxBytes }: { how: readonly string[]; paths: readonly string[]; maxBytes: number },
): Promise<GitPatch> {
  const list = ['ls-files', '--others', '--exclude-standard', '-z', '--', ...paths];
  // A name that ends with a slash is another repository, and git would read a dash as standard input.
  const names = (await fields(git, list)).filter((name) => !name.endsWith('/') && name !== '-');
  let { patch, truncated } = found;
  const files = [...found.files];
  for (const path of names.slice(0, mostUntracked)) {
    const versus = ['--no-index', '--relative', '--', '/dev/null', path];
    const stats = await git(['diff', ...plainPatch, '--numstat', '-z', ...versus]);
    const [file] = await toFiles(stats.stdout.split('\0', 4).slice(0, -1));
    if (file === undefined) continue;
    files.push({ path, added: file.added, deleted: 0, isBinary: file.isBinary });
    const room = maxBytes - Buffer.byteLength(patch);
    const { stdout, truncated: cut } = await git(['diff', ...how, ...versus], {
      maxOutputBytes: Math.max(256, room),
    });
    if (cut || Buffer.byteLength(stdout) > room) truncated = true;
    else patch += stdout;
  }
  return { patch, truncated: truncated || names.length > mostUntracked, files };
}

/** `added TAB deleted TAB path`; after an empty path follow the old and the new one. */
async function toFiles(stats: readonly string[]): Promise<GitFilePatch[]> {
  const pace = new Pace(undefined);
  const files: GitFilePatch[] = [];
  for (let at = 0; at < stats.length; at++) {
    if (pace.isDue) await pace.step();
    const [added = '', deleted = '', ...rest] = (stats[at] ?? '').split('\t');
    const counts = { added: Number(added) || 0, deleted: Number(deleted) || 0, isBinary: added === '-' };
    const path = rest.join('\t');
    if (path === '') {
      const from = stats[++at] ?? '';
      files.push({ path: stats[++at] ?? '', from, ...counts });
    } else files.push({ path, ...counts });
  }
  return files;
}
