/** Runs git inside the cell as a plain process, and reports failures in one way. */

import {
  againstFilters,
  filterQuestion,
  inspectionVariables,
  type Settings,
  unwantedVariables,
  workVariables,
} from '../../base/git-settings.js';
import { inTurns, type Steps } from '../../base/pace.js';
import { programText } from '../../base/program-text.js';
import { WorkcellError } from '../../protocol/index.js';
import type { Call } from '../verb-call.js';

const patienceMs = 60_000;
const largestOutput = 16 * 1024 * 1024;
/** Who reads a repository may get names of filters up to this. */
const largestAnswer = 256 * 1024;
/** A cell can make more files, branches and commits than anybody looks at. */
const mostFields = 200_000;
/** Of what a failed git said. */
const mostSaid = 8192;

export interface GitResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** True when `stdout` is not all that git printed. */
  readonly truncated: boolean;
}

export interface GitOptions {
  readonly maxOutputBytes?: number | undefined;
  readonly stdin?: string | undefined;
  /** Default: one minute. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Git with its settings, in one directory of the cell. */
export type Git = (args: readonly string[], options?: GitOptions) => Promise<GitResult>;

/** Starts a process in the cell; differs where one gets a secret. */
type Start = (action: {
  action: 'start_process';
  argv: string[];
  cwd: string;
  env: Record<string, string>;
  stdin?: string;
  timeoutMs: number;
  outputLimitBytes: number;
}) => Promise<{ id: string }>;

export interface GitPlace {
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly start?: Start | undefined;
  /** Goes before git; default: what takes unwanted variables away. */
  readonly prefix?: readonly string[] | undefined;
  /** The program for the arguments, where that is not git itself but a script that runs it. */
  readonly program?: readonly string[] | undefined;
}

const withoutUnwanted = ['env', ...unwantedVariables.flatMap((name) => ['-u', name])];

/** The same, where a repository must not even choose which git runs. */
export function fromOutside(): string[] {
  const program = programText('from-outside.sh', import.meta.url);
  return ['/bin/sh', '-c', program, 'git', unwantedVariables.join(' ')];
}

const plainGit = ['git', '--no-pager', '--literal-pathspecs'];

export function gitIn(
  call: Call,
  { cwd, env, start = call.execute, prefix = withoutUnwanted, program = plainGit }: GitPlace,
): Git {
  return async (args, { maxOutputBytes = largestOutput, stdin, timeoutMs = patienceMs, signal } = {}) => {
    if (signal?.aborted)
      throw new WorkcellError('cancelled', `git ${args[0]} was cancelled before it began.`);
    const { id } = await start({
      action: 'start_process',
      argv: [...prefix, ...program, ...args],
      cwd,
      env,
      timeoutMs,
      outputLimitBytes: 2 * largestOutput,
      ...(stdin === undefined ? {} : { stdin }),
    });
    const end = () => call.execute({ action: 'signal_process', id, signal: 'SIGKILL' }).catch(() => {});
    signal?.addEventListener('abort', end, { once: true });
    // It may have come while the process started.
    if (signal?.aborted) void end();
    try {
      const result = await call.execute({ action: 'wait_process', id, maxOutputBytes });
      const { stdout, stderr, exitCode, endedBy, truncated } = result;
      if (signal?.aborted) throw new WorkcellError('cancelled', `git ${args[0]} was cancelled.`);
      if (endedBy === 'timeout')
        throw new WorkcellError(
          'timed-out',
          `git ${args[0]} took longer than ${timeoutMs} ms; give it a longer timeoutMs.`,
        );
      if (exitCode === 127 && /git['\u2019]?: (?:No such file|not found)/.test(stderr))
        throw new WorkcellError('capability-unsupported', 'There is no git in this cell; install it there.');
      return { exitCode: exitCode ?? -1, stdout, stderr, truncated };
    } finally {
      signal?.removeEventListener('abort', end);
    }
  };
}

/**
 * Git for looking at an untrusted repository: it obeys no setting that starts a program. The names of filters come from
 * the repository, so ask for them first.
 */
export async function inspect(
  call: Call,
  cwd: string,
  signal?: AbortSignal,
  program?: readonly string[],
): Promise<Git> {
  const ask = gitIn(call, { cwd, prefix: fromOutside(), env: inspectionVariables([]) });
  const { stdout, truncated } = await ask(filterQuestion, { signal, maxOutputBytes: largestAnswer });
  // Git would start a filter whose name we did not see.
  if (truncated) throw tooMuch(filterQuestion);
  const settings = againstFilters(stdout);
  if (settings === undefined) {
    throw new WorkcellError(
      'capability-unsupported',
      'Git in this cell is older than 2.31, and Workcell cannot keep it from starting what a repository names; install a newer one.',
    );
  }
  const git = gitIn(call, { cwd, prefix: fromOutside(), env: inspectionVariables(settings), program });
  return (args, options) => git(args, { signal, ...options });
}

interface WorkOptions {
  readonly signal?: AbortSignal | undefined;
  readonly settings?: Settings | undefined;
  readonly env?: Record<string, string> | undefined;
}

/** Runs Git as a person in the cell would, without prompts. */
export function work(call: Call, cwd: string, { signal, settings = [], env = {} }: WorkOptions = {}): Git {
  const git = gitIn(call, { cwd, env: { ...workVariables(settings), ...env } });
  return (args, options) => git(args, { signal, ...options });
}

/** What git prints, without its last line end. */
export async function output(git: Git, args: readonly string[], options?: GitOptions): Promise<string> {
  const result = await git(args, options);
  if (result.exitCode !== 0) throw failure(args, result);
  if (result.truncated) throw tooMuch(args);
  return withoutLineEnd(result.stdout);
}

/** The same where a failure only means that there is no such thing. */
export async function outputIfAny(git: Git, args: readonly string[]): Promise<string | undefined> {
  const { exitCode, stdout } = await git(args);
  return exitCode === 0 ? withoutLineEnd(stdout) : undefined;
}

/** The fields of output with NUL after each. */
export async function fields(git: Git, args: readonly string[]): Promise<string[]> {
  return inTurns(parts(await output(git, args), '\0', args));
}

/** The lines of output. */
export async function lines(git: Git, args: readonly string[], most = mostFields): Promise<string[]> {
  return inTurns(parts(`${await output(git, args)}\n`, '\n', args, most));
}

function* parts(text: string, end: string, args: readonly string[], most = mostFields): Steps<string[]> {
  const found: string[] = [];
  for (let start = 0, at = text.indexOf(end); at !== -1; at = text.indexOf(end, start)) {
    if (found.push(text.slice(start, at)) > most) throw tooMuch(args);
    start = at + 1;
    if (found.length % 1024 === 0) yield;
  }
  return found;
}

function withoutLineEnd(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}

export function tooMuch(args: readonly string[]): WorkcellError {
  return new WorkcellError(
    'file-too-large',
    `git ${args[0]} prints more than Workcell passes on: ${largestOutput} bytes, or ${mostFields} names. Ask for less, or run git in the shell.`,
    { details: { command: args[0], limitBytes: largestOutput, limit: mostFields } },
  );
}

export function failure(args: readonly string[], { exitCode, stderr, stdout }: GitResult): WorkcellError {
  const said = (stderr.slice(0, mostSaid).trim() || stdout.slice(0, mostSaid).trim())
    .split('\n')
    .filter((line) => !line.startsWith('hint:'))
    .join('\n')
    .slice(0, 2000);
  const code = /not a git repository/.test(said) ? 'not-a-repository' : 'git-failed';
  return new WorkcellError(code, `git ${args[0]} failed: ${said || `exit code ${exitCode}`}`, {
    details: { command: args[0], exitCode },
  });
}
