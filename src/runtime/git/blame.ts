/** Who wrote each line of a file, and in which commit. */
import type { Call } from '../verb-call.js';
import { inspect, output } from './git-command.js';
import { resolveCommit } from './revisions.js';

/** A line of a file, with the commit that last changed it. */
export interface GitBlameLine {
  /** Counted from 1. */
  readonly line: number;
  /** Null for a line that is in no commit yet. */
  readonly commit: string | null;
  readonly author: { readonly name: string; readonly email: string };
  readonly authoredAt: string;
  readonly subject: string;
  readonly text: string;
}

export interface BlameOptions {
  /** Default: the working tree. */
  readonly ref?: string | undefined;
  /** First and last line, from 1. */
  readonly lines?: readonly [first: number, last: number] | undefined;
  readonly signal?: AbortSignal | undefined;
}

export async function findBlame(
  call: Call,
  cwd: string,
  path: string,
  { ref, lines, signal }: BlameOptions = {},
): Promise<GitBlameLine[]> {
  const git = await inspect(call, cwd, signal);
  const state = ref === undefined ? [] : [await resolveCommit(git, ref)];
  const range = lines === undefined ? [] : ['-L', lines.map(Math.trunc).join(',')];
  const text = await output(git, [
    'blame',
    '--line-porcelain',
    '--no-textconv',
    ...range,
    ...state,
    '--',
    path,
  ]);
  const found: GitBlameLine[] = [];
  let header = new Map<string, string>();
  let [commit = '', line = 0] = ['', 0] as [string, number];
  for (const row of text.split('\n')) {
    const start = /^([0-9a-f]{40,64}) \d+ (\d+)/.exec(row);
    if (row.startsWith('\t')) {
      found.push({
        line,
        commit: /^0+$/.test(commit) ? null : commit,
        ...describe(header),
        text: row.slice(1),
      });
      header = new Map();
    } else if (start !== null && header.size === 0) {
      commit = start[1] ?? '';
      line = Number(start[2]);
    } else {
      const space = row.indexOf(' ');
      header.set(space < 0 ? row : row.slice(0, space), space < 0 ? '' : row.slice(space + 1));
    }
  }
  return found;
}

function describe(
  header: ReadonlyMap<string, string>,
): Pick<GitBlameLine, 'author' | 'authoredAt' | 'subject'> {
  return {
    author: {
      name: header.get('author') ?? '',
      email: (header.get('author-mail') ?? '').replace(/^<|>$/g, ''),
    },
    authoredAt: new Date(Number(header.get('author-time') ?? 0) * 1000).toISOString(),
    subject: header.get('summary') ?? '',
  };
}
