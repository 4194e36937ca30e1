/** What differs between the last commit, the index and the working tree. */
import { Pace } from '../../base/pace.js';
import type { Call } from '../verb-call.js';
import { fields, inspect, output } from './git-command.js';

/** The branch, its upstream, and each changed file. */
export interface GitStatus {
  /** The top directory of the repository; paths below are relative to it. */
  readonly root: string;
  /** Null on a detached head. */
  readonly branch: string | null;
  /** The last commit; null before the first. */
  readonly head: string | null;
  /** The branch this one follows, such as `origin/main`, and by how many commits the two differ. */
  readonly upstream: { readonly name: string; readonly ahead: number; readonly behind: number } | null;
  readonly files: readonly GitFileStatus[];
  readonly isClean: boolean;
}

type FileState = 'added' | 'modified' | 'deleted' | 'renamed' | 'copied' | 'type-changed';

interface GitFileStatus {
  readonly path: string;
  /** Where a renamed or copied file was before. */
  readonly from?: string;
  /** What the next commit would record. */
  readonly staged: FileState | null;
  /** What it would not record yet. */
  readonly unstaged: FileState | 'untracked' | null;
  readonly isConflicted: boolean;
  /** True when the path is the commit of another repository. */
  readonly isSubmodule: boolean;
}

const states: Record<string, FileState> = {
  A: 'added',
  M: 'modified',
  D: 'deleted',
  R: 'renamed',
  C: 'copied',
  T: 'type-changed',
};

export async function findStatus(call: Call, cwd: string, signal?: AbortSignal): Promise<GitStatus> {
  const git = await inspect(call, cwd, signal);
  const [root, found] = await Promise.all([
    output(git, ['rev-parse', '--show-toplevel']),
    fields(git, [
      'status',
      '--porcelain=v2',
      '--branch',
      '-z',
      '--untracked-files=all',
      '--ignore-submodules=dirty',
      '--find-renames',
    ]),
  ]);
  const pace = new Pace(signal);
  const headers = new Map<string, string>();
  const files: GitFileStatus[] = [];
  for (let at = 0; at < found.length; at++) {
    const field = found[at] ?? '';
    if (pace.isDue) await pace.step();
    if (field.startsWith('# ')) {
      const [name = '', ...value] = field.slice(2).split(' ');
      headers.set(name, value.join(' '));
      continue;
    }
    // Only renamed and copied files have a second field, with the old path.
    files.push(field.startsWith('2 ') ? toFile(field, found[++at]) : toFile(field));
  }
  return { root, ...toBranch(headers), files, isClean: files.length === 0 };
}

function toBranch(headers: ReadonlyMap<string, string>): Pick<GitStatus, 'branch' | 'head' | 'upstream'> {
  const branch = headers.get('branch.head') ?? '(detached)';
  const head = headers.get('branch.oid') ?? '(initial)';
  const upstream = headers.get('branch.upstream');
  const [ahead = 0, behind = 0] = (headers.get('branch.ab') ?? '')
    .split(' ')
    .map((count) => Math.abs(Number(count)));
  return {
    branch: branch === '(detached)' ? null : branch,
    head: head === '(initial)' ? null : head,
    upstream: upstream === undefined ? null : { name: upstream, ahead, behind },
  };
}

/** How many words stand before the path, by the kind of entry. */
const words: Record<string, number> = { '1': 8, '2': 9, u: 10, '?': 1, '!': 1 };

function toFile(field: string, from?: string): GitFileStatus {
  const [kind = '', letters = '..', submodule = 'N'] = field.split(' ');
  const path = field.split(' ').slice(words[kind]).join(' ');
  if (kind === '?')
    return { path, staged: null, unstaged: 'untracked', isConflicted: false, isSubmodule: false };
  return {
    path,
    ...(from === undefined ? {} : { from }),
    staged: kind === 'u' ? null : (states[letters.charAt(0)] ?? null),
    unstaged: kind === 'u' ? 'modified' : (states[letters.charAt(1)] ?? null),
    isConflicted: kind === 'u',
    isSubmodule: submodule.startsWith('S'),
  };
}
