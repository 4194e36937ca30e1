/** Runs bash commands as separate plain processes of the cell, and publishes their output. */

import { constants } from 'node:os';
import { z } from 'zod';
import type { Executor, Observation } from '../../../protocol/index.js';
import type { Say } from '../../messages.js';
import type { Activity } from '../activity.js';
import { Refusal, textOf } from '../detail-errors.js';
import type { FacadeContext } from '../facade-context.js';
import { words } from '../openhands-v1-messages.js';
import type { BashCommand, BashEvents, BashOutput } from './bash-events.js';
import { OutputPieces, wholeOutput } from './pieces.js';

const mostRunning = 256;
const longestTimeout = 2_147_483;

/** The request that starts a command; in seconds, as in the protocol. */
export const executeRequestSchema = z.object({
  command: z.string().refine((command) => !command.includes('\0'), 'must not contain a NUL character'),
  cwd: z.string().min(1).max(4096).nullish(),
  timeout: z.int().min(0).max(longestTimeout).default(300),
});

export type ExecuteRequest = z.output<typeof executeRequestSchema>;

export class BashCommands {
  readonly #executor: () => Executor;
  readonly #events: BashEvents;
  readonly #activity: Activity;
  readonly #say: Say;
  #running = 0;

  constructor(parts: Pick<FacadeContext, 'executor' | 'events' | 'activity' | 'say'>) {
    this.#executor = parts.executor;
    this.#events = parts.events;
    this.#activity = parts.activity;
    this.#say = parts.say;
  }

  /** Starts a command in the background. `ended` never rejects. */
  start({ command, cwd, timeout }: ExecuteRequest): { event: BashCommand; ended: Promise<BashOutput> } {
    if (this.#running >= mostRunning) throw new Refusal(429, words('bash.too_many', { most: mostRunning }));
    const event = this.#events.publish<BashCommand>(
      { kind: 'BashCommand', command, cwd: cwd ?? null, timeout },
      { bytes: Buffer.byteLength(command), drop() {} },
    );
    this.#running++;
    const ended = this.#run(event).finally(() => {
      this.#running--;
      this.#activity.touch();
    });
    return { event, ended };
  }

  /** Runs a command to its end; the answer has its whole output, as far as we kept it. */
  async execute(request: ExecuteRequest): Promise<BashOutput> {
    const { event, ended } = this.start(request);
    const last = await ended;
    return wholeOutput(last, this.#events.outputsOf(event.id), this.#say(words('bash.earlier_cut')));
  }

  async #run({ id: commandId, command, cwd, timeout }: BashCommand): Promise<BashOutput> {
    const pieces = new OutputPieces(this.#events, commandId);
    try {
      const executor = this.#executor();
      const { id } = await executor.execute<'start_process'>({
        action: 'start_process',
        command,
        cwd: cwd ?? undefined,
        // Clients round parts of a second down, so that zero means a short time and not none.
        timeoutMs: Math.max(timeout, 1) * 1000,
        encoding: 'utf8',
      });
      const result = await executor.execute<'wait_process'>(
        {
          action: 'wait_process',
          id,
          encoding: 'utf8',
          maxOutputBytes: 256,
          stdoutFrom: 0,
          stderrFrom: 0,
        },
        { onProgress: (progress) => pieces.add(progress) },
      );
      const note =
        result.endedBy === 'timeout' ? this.#say(words('bash.timed_out', { seconds: timeout })) : '';
      return pieces.end(exitCodeOf(result), note);
    } catch (error) {
      return pieces.end(-1, this.#say(textOf(error)));
    }
  }
}

/** The code as the original reports it: minus the number of a signal, and -1 for a command that we ended. */
function exitCodeOf({ exitCode, signal, endedBy }: Observation<'wait_process'>): number {
  if (endedBy === 'timeout') return -1;
  if (exitCode !== null) return exitCode;
  const number = signal === null ? undefined : constants.signals[signal as NodeJS.Signals];
  return number === undefined ? -1 : -number;
}
