/** The plain processes of a cell, by id: those that run, and the last that ended. */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:os';
import { inTurns, type Steps } from '../../../base/pace.js';
import {
  type Action,
  type ExecuteContext,
  type Observation,
  type ProcessInfo,
  WorkcellError,
} from '../../../protocol/index.js';
import { killTree } from '../../launchers/kill-tree.js';
import type { Launcher } from '../../launchers/launcher.js';
import type { Environment } from '../cell-environment.js';
import type { Tree } from '../files/file-tree.js';
import { excerpt } from '../output/output-excerpt.js';
import type { OutputStore } from '../output/output-store.js';
import { follow } from './follow-output.js';
import { interruptible } from './interruptible.js';
import { StartedProcess } from './started-process.js';
import { workingDirectory } from './working-directory.js';

const keptEnded = 256;

/** Options for the start of a process. Fields as in the action. */
export type StartOptions = Pick<
  Action<'start_process'>,
  'cwd' | 'env' | 'keepStdin' | 'timeoutMs' | 'outputLimitBytes'
> & {
  readonly argv: readonly string[];
  readonly stdin?: Buffer | undefined;
};

export type WaitOptions = Omit<Action<'wait_process'>, 'action' | 'id'>;
export type WaitResult = Omit<Observation<'wait_process'>, 'observation'>;

export class Processes {
  readonly #launcher: Launcher;
  readonly #environment: Environment;
  readonly #outputs: OutputStore;
  readonly #tree: Tree;
  readonly #all = new Map<string, StartedProcess>();
  #closing: Promise<void> | undefined;

  constructor(parts: { launcher: Launcher; environment: Environment; outputs: OutputStore; tree: Tree }) {
    this.#launcher = parts.launcher;
    this.#environment = parts.environment;
    this.#outputs = parts.outputs;
    this.#tree = parts.tree;
  }

  async start(options: StartOptions): Promise<{ id: string; pid: number }> {
    this.#checkOpen();
    const cwd = workingDirectory(this.#launcher, this.#tree, options.cwd);
    const oomKillsBefore = this.#launcher.oomKills?.() ?? 0;
    const env = { ...this.#environment.all(), ...options.env };
    const launched = await this.#launcher.spawn(options.argv, { cwd, env });
    const process = new StartedProcess(
      { id: randomBytes(6).toString('hex'), argv: options.argv, cwd },
      {
        launcher: this.#launcher,
        launched,
        output: this.#outputs.create(['stdout', 'stderr']),
        oomKillsBefore,
      },
      options,
    );
    this.#all.set(process.id, process);
    void process.gone.then(() => this.#dropOldest());
    if (options.stdin !== undefined && options.stdin.length > 0) launched.stdin.write(options.stdin);
    if (!options.keepStdin) launched.stdin.end();
    // The cell may have closed while the process started.
    if (this.#closing !== undefined) {
      await end(this.#launcher, [process]);
      this.#checkOpen();
    }
    return { id: process.id, pid: process.pid };
  }

  get(id: string): ProcessInfo {
    return this.#find(id).describe();
  }

  list(): ProcessInfo[] {
    return [...this.#all.values()].map((process) => process.describe());
  }

  /** Sends a signal, such as `SIGTERM`, to a process and to all that it started. */
  async signal(id: string, name: string): Promise<void> {
    const process = this.#find(id);
    if (!isSignal(name)) {
      throw new WorkcellError(
        'invalid-action',
        `There is no signal "${name}" here; try SIGTERM, SIGINT or SIGKILL.`,
        {
          details: { signal: name },
        },
      );
    }
    await process.signal(name);
  }

  /** Writes to standard input. Resolves when the process has room for more. */
  async write(
    id: string,
    data: Buffer,
    options: { end: boolean; signal?: AbortSignal | undefined },
  ): Promise<void> {
    await this.#find(id).write(data, options);
  }

  /** Waits for the end. A waiter that goes away, or whose time is up, leaves the process as it is. */
  async wait(id: string, options: WaitOptions, context: ExecuteContext = {}): Promise<WaitResult> {
    const process = this.#find(id);
    const { onProgress, signal } = context;
    const positions = { stdout: options.stdoutFrom, stderr: options.stderrFrom };
    const release = onProgress === undefined ? () => {} : process.addFollower(positions);
    try {
      await interruptible(
        `Waiting for process "${id}"`,
        { signal, timeoutMs: options.timeoutMs },
        async (stopped) => {
          if (onProgress !== undefined) await follow(process, positions, onProgress, stopped);
          else await process.gone;
        },
      );
    } finally {
      release();
    }
    return inTurns(resultOf(process, options));
  }

  /** Ends all processes and what they started. Succeeds when called twice. */
  close(): Promise<void> {
    this.#closing ??= end(this.#launcher, [...this.#all.values()]);
    return this.#closing;
  }

  #find(id: string): StartedProcess {
    const process = this.#all.get(id);
    if (process !== undefined) return process;
    throw new WorkcellError(
      'process-not-found',
      `There is no process "${id}": it never started here, or it ended before ${keptEnded} others.`,
      { details: { id } },
    );
  }

  #checkOpen(): void {
    if (this.#closing === undefined) return;
    throw new WorkcellError('runtime-closed', 'The cell is closed; start a new one.');
  }

  #dropOldest(): void {
    const ended = [...this.#all.values()].filter((process) => process.ended);
    for (const process of ended.slice(0, Math.max(0, ended.length - keptEnded))) this.#all.delete(process.id);
  }
}

/** One look at the process table serves all of them. */
async function end(launcher: Launcher, processes: readonly StartedProcess[]): Promise<void> {
  const running = processes.filter((process) => !process.ended);
  if (running.length === 0) return;
  await killTree(
    launcher,
    running.map((process) => process.pid),
    'SIGKILL',
  );
  await Promise.all(running.map((process) => process.gone));
}

function* resultOf(process: StartedProcess, { encoding, maxOutputBytes }: WaitOptions): Steps<WaitResult> {
  const stdout = yield* excerpt(process.spools.stdout, maxOutputBytes, encoding);
  const stderr = yield* excerpt(process.spools.stderr, maxOutputBytes, encoding);
  return {
    id: process.id,
    stdout: stdout.data,
    stderr: stderr.data,
    encoding,
    ...process.end,
    truncated: stdout.truncated || stderr.truncated,
    outputId: process.output.id,
  };
}

function isSignal(name: string): name is NodeJS.Signals {
  return Object.hasOwn(constants.signals, name);
}
