/** One context: a kernel, which starts when needed, and the code cells that take turns in it. */
import { type ExecuteContext, WorkcellError } from '../../../protocol/index.js';
import { type Ended, type ExecutionOptions, executeCell, executeSilently, graceMs } from './execution.js';
import type { Kernel } from './jupyter-kernel.js';
import { languageOf } from './languages.js';
import type { Outputs } from './outputs.js';

/** What a kernel should see of its cell at a moment. */
export interface Surroundings {
  readonly cwd: string | undefined;
  readonly variables: Readonly<Record<string, string>>;
}

/** A kernel with what it last heard about its surroundings. */
export interface ReadyKernel {
  readonly kernel: Kernel;
  /** The path of the interpreter, where the kernel tells it. */
  readonly interpreter: string | undefined;
  told: Surroundings;
}

/** How long a kernel can take to clean up before we kill it. */
const exitGraceMs = 1000;

export class Context {
  readonly name: string;
  readonly language: string;
  readonly kernelName: string;
  waiting = 0;
  #state: 'starting' | 'idle' | 'busy' | 'dead' = 'starting';
  readonly #obtain: () => Promise<ReadyKernel>;
  readonly #surroundings: () => Promise<Surroundings>;
  #ready: Promise<ReadyKernel> | undefined;
  #current: Kernel | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(options: {
    name: string;
    language: string;
    kernelName: string;
    /** A kernel that has run nothing yet. */
    obtain: () => Promise<ReadyKernel>;
    surroundings: () => Promise<Surroundings>;
  }) {
    this.name = options.name;
    this.language = options.language;
    this.kernelName = options.kernelName;
    this.#obtain = options.obtain;
    this.#surroundings = options.surroundings;
  }

  get state(): 'starting' | 'idle' | 'busy' | 'dead' {
    return this.#current !== undefined && !this.#current.alive ? 'dead' : this.#state;
  }

  get pid(): number | null {
    return this.#current?.alive ? this.#current.pid : null;
  }

  /** The path of the interpreter of the last code cell, where its kernel tells it. */
  async interpreter(): Promise<string | undefined> {
    return (await this.#ready)?.interpreter;
  }

  /** Runs a code cell after the earlier ones. */
  run(options: ExecutionOptions, outputs: Outputs, context: ExecuteContext): Promise<Ended> {
    return this.#inTurn(context.signal, async () => {
      const kernel = await this.#prepared(options.timeoutMs);
      if (context.signal?.aborted) throw cancelled();
      this.#state = 'busy';
      try {
        return await executeCell(kernel, options, outputs, context);
      } finally {
        this.#state = 'idle';
      }
    });
  }

  interrupt(): void {
    if (this.#state === 'busy') this.#current?.interrupt();
  }

  /** Ends the kernel with its state; the next code cell gets another. */
  async end(): Promise<void> {
    const ready = await this.#ready?.catch(() => undefined);
    this.#ready = undefined;
    this.#current = undefined;
    this.#state = 'starting';
    if (ready === undefined) return;
    await ready.kernel.shutDown(exitGraceMs);
  }

  /** Ends the kernel at once, for good. */
  async close(): Promise<void> {
    this.#closed = true;
    const ready = await this.#ready?.catch(() => undefined);
    await ready?.kernel.kill();
  }

  /** A kernel that is alive and follows the cell's shell and variables. */
  async #prepared(timeoutMs: number | undefined): Promise<Kernel> {
    if (this.#closed) throw new WorkcellError('runtime-closed', 'The context is closed; use another one.');
    if (this.#current?.alive === false) this.#ready = undefined;
    this.#ready ??= this.#obtain().catch((error: unknown) => {
      this.#ready = undefined;
      throw error;
    });
    const ready = await this.#ready;
    this.#current = ready.kernel;
    await bringUpToDate(ready, this.language, await this.#surroundings(), timeoutMs && timeoutMs + graceMs);
    return ready.kernel;
  }

  async #inTurn<Result>(signal: AbortSignal | undefined, work: () => Promise<Result>): Promise<Result> {
    this.waiting++;
    let left = false;
    const leave = () => {
      if (!left) this.waiting--;
      left = true;
    };
    let begun = false;
    const turn = this.#turn.then(() => {
      begun = true;
      leave();
      if (signal?.aborted) throw cancelled();
      return work();
    });
    this.#turn = turn.catch(() => {});
    return signal === undefined ? turn : untilGivenUp(turn, signal, () => begun);
  }
}

/** A caller that cancels before its turn gets its answer at once, and not after the earlier code cells. */
async function untilGivenUp<Result>(
  turn: Promise<Result>,
  signal: AbortSignal,
  hasBegun: () => boolean,
): Promise<Result> {
  let giveUp = (): void => {};
  const givenUp = new Promise<never>((_, reject) => {
    giveUp = () => {
      if (!hasBegun()) reject(cancelled());
    };
  });
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    return await Promise.race([turn, givenUp]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

function cancelled(): WorkcellError {
  return new WorkcellError('cancelled', 'The code cell was cancelled before it ran.');
}

/** Updates a kernel on what changed around it since the last time. */
async function bringUpToDate(
  ready: ReadyKernel,
  languageName: string,
  now: Surroundings,
  limitMs: number | undefined,
): Promise<void> {
  const language = languageOf(languageName);
  const { told, kernel } = ready;
  if (language === undefined) return;
  const set = Object.fromEntries(
    Object.entries(now.variables).filter(([name, value]) => told.variables[name] !== value),
  );
  const unset = Object.keys(told.variables).filter((name) => !(name in now.variables));
  const lines = [
    ...(Object.keys(set).length + unset.length > 0 ? [language.changeEnvironment({ set, unset })] : []),
    ...(now.cwd !== undefined && now.cwd !== told.cwd ? [language.changeDirectory(now.cwd)] : []),
  ];
  if (lines.length === 0) return;
  // If the directory no longer exists, that concerns the shell and not this code cell.
  await executeSilently(kernel, lines.join('\n'), undefined, limitMs);
  ready.told = now;
}
