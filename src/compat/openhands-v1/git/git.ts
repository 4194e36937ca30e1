/** Runs git in the cell, with nothing of the repository's or the user's settings that would start other programs. */
import type { Executor } from '../../../protocol/index.js';
import { Refusal } from '../errors.js';

const timeoutMs = 60_000;
const largestOutput = 16 * 1024 * 1024;

const settings = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.untrackedCache=false',
  'core.quotePath=false',
  'core.pager=cat',
  'diff.external=',
  'diff.ignoreSubmodules=none',
  'diff.relative=false',
  'log.showSignature=false',
  'safe.directory=*',
].flatMap((setting) => ['-c', setting]);

const environment = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_PAGER: 'cat',
  LC_ALL: 'C',
};

interface GitResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** True when `stdout` is not all that git printed. */
  readonly truncated: boolean;
}

export type Git = (args: readonly string[], options?: { maxOutputBytes?: number }) => Promise<GitResult>;

/** Git in one directory of the cell. */
export function gitIn(executor: Executor, cwd: string): Git {
  return async (args, { maxOutputBytes = largestOutput } = {}) => {
    const { id } = await executor.execute<'start_process'>({
      action: 'start_process',
      argv: ['git', '--no-pager', '--literal-pathspecs', ...settings, ...args],
      cwd,
      env: environment,
      encoding: 'utf8',
      timeoutMs,
      outputLimitBytes: 4 * largestOutput,
    });
    const { stdout, stderr, exitCode, endedBy, truncated } = await executor.execute<'wait_process'>({
      action: 'wait_process',
      id,
      encoding: 'utf8',
      maxOutputBytes,
      stdoutFrom: 0,
      stderrFrom: 0,
    });
    if (endedBy === 'timeout')
      throw new Refusal(400, `git ${args[0]} took longer than ${timeoutMs / 1000} s.`);
    return { exitCode: exitCode ?? -1, stdout, stderr, truncated };
  };
}

/** What git prints, without its last line end; any failure is the caller's 400. */
export async function output(git: Git, args: readonly string[]): Promise<string> {
  const result = await git(args);
  if (result.exitCode !== 0)
    throw new Refusal(
      400,
      `git ${args[0]} failed: ${result.stderr.trim() || `exit code ${result.exitCode}`}`,
    );
  if (result.truncated) throw new Refusal(400, `git ${args[0]} has more to tell than this server passes on.`);
  return result.stdout.replace(/\n$/, '');
}

/** The same where a failure only means that there is no such thing. */
export async function outputIfAny(git: Git, args: readonly string[]): Promise<string | undefined> {
  const { exitCode, stdout } = await git(args);
  return exitCode === 0 ? stdout.replace(/\n$/, '') : undefined;
}

/** The fields of output with NUL after each. */
export function fieldsOf(text: string): string[] {
  return text.split('\0').slice(0, -1);
}
