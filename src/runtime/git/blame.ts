/** Who wrote each line of a file, and in which commit. */
import { Pace } from '../../base/pace.js';
import type { Call } from '../verb-call.js';
import { inspect, lines } from './git-command.js';
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

/** Git tells a dozen things about each line. */
const mostRows = 2_000_000;

export async function findBlame(
  call: Call,
  cwd: string,
  path: string,
  { ref, lines: chosen, signal }: BlameOptions = {},
): Promise<GitBlameLine[]> {
  const git = await inspect(call, cwd, signal);
  const pace = new Pace(signal);
  const state = ref === undefined ? [] : [await resolveCommit(git, ref)];
  const range = chosen === undefined ? [] : ['-L', chosen.map(Math.trunc).join(',')];
  const rows = await lines(
    git,
    ['blame', '--line-porcelain', '--no-textconv', ...range, ...state, '--', path],
    mostRows,
  );
  const found: GitBlameLine[] = [];
  let header = new Map<string, string>();
  let [commit = '', line = 0] = ['', 0] as [string, number];
  for (const row of rows) {
    if (pace.isDue) await pace.step();
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
    authoredAt: timeOf(header.get('author-time')),
    subject: header.get('summary') ?? '',
  };
}

/** A commit can name any time, also one that no calendar has. */
function timeOf(seconds = '0'): string {
  const time = new Date(Number(seconds) * 1000);
  return Number.isNaN(time.getTime()) ? '' : time.toISOString();
}
