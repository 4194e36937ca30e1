/** What the prompt of the shell would show: user, host and directory, its Python, its background jobs. */
import type { Executor } from '../../../protocol/index.js';
import { hasCode } from '../files/path-kind.js';
import type { CommandMetadata } from '../observations.js';
import { perform } from '../perform-action.js';

export interface Job {
  readonly number: number;
  readonly pid: number;
}

export interface Prompt {
  readonly metadata: Pick<CommandMetadata, 'pid' | 'username' | 'hostname' | 'py_interpreter_path'>;
  /** The shell's jobs, as it numbers them. */
  readonly jobs: readonly Job[];
  /** Output of background programs since the last command. */
  readonly stray: string;
  /** A fresh shell had to answer, because the previous one has ended. */
  readonly isFresh: boolean;
}

const marker = '@openhands-prompt';

const answer = new RegExp(
  `\\n?${marker}\\t(\\d*)\\t([^\\t\\n]*)\\t([^\\t\\n]*)\\t\\n(/.*)?\\n?${marker}-jobs\\n([^]*?)${marker}-end\\n?`,
);

/** Forks nothing. */
const question = [
  String.raw`__openhands_prompt='\u'$'\t''\h'`,
  String.raw`\builtin printf '\n${marker}\t%s\t%s\t\n' "${'$'}{!:-}" "${'$'}{__openhands_prompt@P}"`,
  String.raw`\builtin unset __openhands_prompt`,
  String.raw`\builtin type -P python || :`,
  String.raw`\builtin printf '%s-jobs\n' ${marker}`,
  String.raw`\builtin jobs -l`,
  String.raw`\builtin printf '%s-end\n' ${marker}`,
];

/** Asks the shell itself, because a command may have changed any of it. `$?` stays what the last command left. */
export async function readPrompt(executor: Executor, session: string, exitCode: number): Promise<Prompt> {
  // The shell's own output may be redirected, and nobody needs what `set -x` prints about the question.
  const command = `{ ${[...question, restoreStatus(exitCode)].join('; ')}; } >/dev/tty 2>/dev/null`;
  const { output, notice } = await perform(executor, { action: 'run', command, session });
  const [block = '', pid = '', username = '', hostname = '', python = '', jobs = ''] =
    answer.exec(output) ?? [];
  return {
    metadata: {
      pid: pid === '' ? -1 : Number(pid),
      username: username || null,
      hostname: hostname || null,
      py_interpreter_path: python,
    },
    jobs: Array.from(jobs.matchAll(/^\[(\d+)\][+-]? +(\d+) /gm), ([, number, process]) => ({
      number: Number(number),
      pid: Number(process),
    })),
    stray: output.replace(block, ''),
    isFresh: notice !== undefined,
  };
}

/** A status other than 0 and 1 takes a subshell. With `set -e` a failing one would end the shell. */
function restoreStatus(exitCode: number): string {
  if (exitCode === 0) return ':';
  return `case $- in *e*) ;; *) (\\builtin exit ${exitCode});; esac`;
}

/** How long the evaluation can take: a value may be the output of a command. */
const startupLimitMs = 10_000;

/**
 * Sets the variables that the user's ~/.bashrc exports: clients keep theirs there for the next start. Reads nothing
 * else of it, because the rest is for people and runs at every prompt.
 */
export async function readStartupFile(executor: Executor, session: string): Promise<void> {
  const command = String.raw`\eval "$(grep -E '^export [A-Za-z_][A-Za-z0-9_]*=' ~/.bashrc 2>/dev/null)" 2>/dev/null; :`;
  try {
    await perform(executor, { action: 'run', command, session, timeoutMs: startupLimitMs });
  } catch (error) {
    // The shell works even if a policy does not allow a file to run code.
    if (!hasCode(error, 'denied', 'confirmation-timeout')) throw error;
    await perform(executor, { action: 'run', command: ':', session });
  }
}
