/** The one shell that `run` actions share: what is running there, and how much of it we have reported. */
import type { ActionInput, ExecuteContext, Executor, Observation } from '../../../protocol/index.js';
import type { Text } from '../../messages.js';
import { hasCode } from '../files/path-kind.js';
import {
  type CommandMetadata,
  errorObservation,
  type ObservationEvent,
  runObservation,
} from '../observations.js';
import { words } from '../openhands-words.js';
import type { Arguments } from '../parse-action-event.js';
import { perform } from '../perform-action.js';
import { type Job, readPrompt, readStartupFile } from './shell-prompt.js';
import { exitCodeOf, maxOutputBytes, milliseconds, pythonFloat } from './shell-values.js';
import { splitCommands } from './single-command.js';

export interface BashOptions {
  /** Name of the executor's session behind it. */
  readonly session: string;
  readonly workingDirectory: string;
  readonly noChangeSeconds: number;
}

type Request = Arguments<'run'> & { readonly timeout: number | undefined } & Pick<
    ExecuteContext,
    'statedRisk'
  >;

export class BashSession {
  /** Where the shell is, as of its last prompt. */
  cwd: string;
  readonly #executor: Executor;
  readonly #options: BashOptions;
  /** We handed a command back and have not reported its end. */
  #isPending = false;
  /** Output that belongs to no command and waits for the next observation. */
  #stray = '';
  #lastPrompt: Partial<CommandMetadata> = {};
  #jobs: readonly Job[] = [];

  constructor(executor: Executor, options: BashOptions) {
    this.#executor = executor;
    this.#options = options;
    this.cwd = options.workingDirectory;
  }

  async run(request: Request): Promise<ObservationEvent> {
    const command = request.command.trim();
    const input = request.is_input;
    if (!this.#isPending && (command === '' || input)) {
      const content = command === '' ? words('bash.nothing_to_fetch') : words('bash.nothing_to_talk_to');
      return runObservation({ command: '', content, hidden: request.hidden });
    }
    const commands = input || command === '' ? [] : splitCommands(command);
    if (commands.length > 1) return errorObservation(severalCommands(commands));
    if (input || command === '') return this.#wait(command, request, true);
    return this.#start(command, request);
  }

  async #start(command: string, request: Request): Promise<ObservationEvent> {
    if (this.#isPending) {
      const rest = await this.#send({ command: '', handBackMs: 1, maxOutputBytes: maxOutputBytes.shown });
      if (rest.endedBy === 'no-change') {
        return runObservation({
          command,
          content: rest.output.trim(),
          hidden: request.hidden,
          metadata: {
            prefix: words('bash.previous_output'),
            suffix: words('bash.refused', { command, proceed }),
          },
        });
      }
      // It ended unseen: its last output comes with the output of the new command.
      this.#isPending = false;
      this.#stray += rest.output;
    }
    if (isControlKey(command)) return this.#keyAtPrompt(command, request);
    return this.#wait(command, request, false);
  }

  /** A key has nothing to act on at the prompt, where C-d would only end the shell. */
  #keyAtPrompt(command: string, { hidden }: Request): ObservationEvent {
    const exitCode = command.toLowerCase() === 'c-c' ? 130 : (this.#lastPrompt.exit_code ?? 0);
    const content = this.#stray.trim();
    this.#stray = '';
    const suffix = words('bash.completed_after_key', { exit_code: exitCode, key: letterOf(command) });
    return runObservation({
      command,
      content,
      hidden,
      metadata: { ...this.#lastPrompt, working_dir: this.cwd, exit_code: exitCode, suffix },
    });
  }

  /** Sends a command, input or nothing, and waits for the end or for the first of the two timeouts. */
  async #wait(command: string, request: Request, continues: boolean): Promise<ObservationEvent> {
    const { hidden, blocking, timeout } = request;
    const { noChangeSeconds } = this.#options;
    const handBackMs = timeout === undefined ? undefined : milliseconds(timeout);
    const startedAt = performance.now();
    const result = await this.#send(
      {
        command,
        maxOutputBytes: hidden ? maxOutputBytes.hidden : maxOutputBytes.shown,
        ...(request.is_input && { input: true }),
        // Here an empty command waits for the end, too.
        ...((handBackMs !== undefined || blocking) && {
          handBackMs: handBackMs ?? milliseconds(Number.POSITIVE_INFINITY),
        }),
        ...(!blocking && { noChangeTimeoutMs: milliseconds(noChangeSeconds) }),
      },
      request.statedRisk,
    );
    const content = withoutEcho(this.#stray + result.output, request.is_input ? command : '');
    this.#stray = '';
    this.#isPending = result.endedBy === 'no-change';
    if (!this.#isPending) {
      const { started, metadata } = await this.#completed(result, command, request);
      const prefix = cutNote(result, content);
      // A terminal shows these lines as soon as the jobs are there.
      const shown = [...started, ...(content === '' ? [] : [content])].join('\n');
      return runObservation({ command, content: shown, hidden, metadata: { ...metadata, prefix } });
    }
    const isHard = handBackMs !== undefined && performance.now() - startedAt >= handBackMs - 1;
    return runObservation({
      command,
      content,
      hidden,
      metadata: {
        prefix: continues ? words('bash.previous_output') : '',
        suffix: isHard
          ? words('bash.timed_out', { seconds: pythonFloat(timeout ?? 0), proceed })
          : words('bash.no_change', { seconds: noChangeSeconds, proceed }),
      },
    });
  }

  async #completed(
    result: Observation<'run'>,
    command: string,
    { is_input }: Request,
  ): Promise<{ started: string[]; metadata: Partial<CommandMetadata> }> {
    const exitCode = exitCodeOf(result);
    const { session } = this.#options;
    const prompt = await readPrompt(this.#executor, session, exitCode);
    const fresh = prompt.jobs.filter(({ pid }) => this.#jobs.every((known) => known.pid !== pid));
    this.#jobs = prompt.jobs;
    if (prompt.isFresh) await readStartupFile(this.#executor, session);
    this.cwd = result.cwd;
    this.#stray = prompt.stray;
    this.#lastPrompt = { ...prompt.metadata, exit_code: exitCode };
    const ended =
      is_input && isControlKey(command)
        ? words('bash.completed_after_key', { exit_code: exitCode, key: letterOf(command) })
        : words('bash.completed', { exit_code: exitCode });
    const suffix = prompt.isFresh ? [ended, words('bash.shell_replaced')] : ended;
    return {
      started: fresh.map(({ number, pid }) => `[${number}] ${pid}`),
      metadata: { ...this.#lastPrompt, working_dir: result.cwd, suffix },
    };
  }

  async #send(
    action: Omit<ActionInput<'run'>, 'action' | 'session'>,
    statedRisk?: ExecuteContext['statedRisk'],
  ): Promise<Observation<'run'>> {
    const { session } = this.#options;
    try {
      return await perform(this.#executor, { action: 'run', session, ...action }, { statedRisk });
    } catch (error) {
      if (hasCode(error, 'session-not-running', 'session-not-found')) this.#isPending = false;
      throw error;
    }
  }
}

/** As many lines as the terminal of the original keeps. */
const mostLines = 10_000;

function cutNote({ truncated }: Observation<'run'>, content: string): Text {
  const lines = content.split('\n').length;
  return truncated || lines > mostLines ? words('bash.earlier_cut', { lines }) : '';
}

const proceed = words('bash.proceed');

function severalCommands(commands: readonly string[]): Text {
  const numbered = commands.map((command, index) => `(${index + 1}) ${command}`);
  return words('bash.several_commands', { commands: numbered.join('\n') });
}

function isControlKey(text: string): boolean {
  return text.length === 3 && text.startsWith('C-');
}

function letterOf(key: string): string {
  return key.slice(2).toUpperCase();
}

/** The terminal echoes typed input. */
function withoutEcho(output: string, typed: string): string {
  const text = output.trimStart();
  return (typed !== '' && text.startsWith(typed) ? text.slice(typed.length) : text).trim();
}
