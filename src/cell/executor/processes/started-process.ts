/** One started process: its output, its input, its limits, and how it ended. */

import { type EndedBy, type ProcessInfo, WorkcellError } from '../../../protocol/index.js';
import { killTree } from '../../launchers/kill-tree.js';
import type { LaunchedProcess, Launcher } from '../../launchers/launcher.js';
import type { Output } from '../output/output-store.js';
import type { Spool } from '../output/spool.js';
import { Changes } from './change-signal.js';
import type { Followed, Positions, ProcessStream } from './follow-output.js';
import { type Source, untilQuiet } from './quiet.js';

/** Hold the process back when a listener is this far behind. */
const windowBytes = 1024 * 1024;

export interface ProcessLimits {
  readonly timeoutMs?: number | undefined;
  readonly outputLimitBytes?: number | undefined;
}

type End = Pick<ProcessInfo, 'exitCode' | 'signal'> & { endedBy: EndedBy; durationMs: number };

export class StartedProcess implements Followed, Source {
  readonly id: string;
  readonly output: Output;
  readonly spools: Readonly<Record<ProcessStream, Spool>>;
  /** Settles when the process has ended and we have kept its output. */
  readonly gone: Promise<void>;
  receivedBytes = 0;
  held: Promise<void> | undefined;

  readonly #what: { argv: readonly string[]; cwd: string };
  readonly #launcher: Launcher;
  readonly #launched: LaunchedProcess;
  readonly #limits: ProcessLimits;
  readonly #oomKillsBefore: number;
  readonly #startedAt = Date.now();
  readonly #started = performance.now();
  readonly #changes = new Changes();
  readonly #followers = new Set<Positions>();
  readonly #open = new Set<ProcessStream>(['stdout', 'stderr']);
  #timer: NodeJS.Timeout | undefined;
  #exited = false;
  #release = (): void => {};
  #endedBy: EndedBy | undefined;
  #end: End | undefined;

  constructor(
    what: { id: string; argv: readonly string[]; cwd: string },
    parts: { launcher: Launcher; launched: LaunchedProcess; output: Output; oomKillsBefore: number },
    limits: ProcessLimits,
  ) {
    const { stdout, stderr } = parts.output.streams;
    if (stdout === undefined || stderr === undefined)
      throw new Error('A process needs a place for both its streams.');
    this.id = what.id;
    this.output = parts.output;
    this.spools = { stdout, stderr };
    this.#what = what;
    this.#launcher = parts.launcher;
    this.#launched = parts.launched;
    this.#oomKillsBefore = parts.oomKillsBefore;
    this.#limits = limits;
    this.#listen('stdout');
    this.#listen('stderr');
    // A process may close its input or end while we still write to it; that is no error.
    this.#launched.stdin.on('error', () => {});
    if (limits.timeoutMs !== undefined) {
      this.#timer = setTimeout(() => void this.#kill('timeout'), limits.timeoutMs);
    }
    this.gone = this.#untilGone();
  }

  get pid(): number {
    return this.#launched.pid;
  }

  get ended(): boolean {
    return this.#end !== undefined;
  }

  get closed(): boolean {
    return this.#open.size === 0;
  }

  /** How it ended; only for a process that did. */
  get end(): End {
    if (this.#end === undefined) throw new Error(`Process "${this.id}" still runs.`);
    return this.#end;
  }

  describe(): ProcessInfo {
    return {
      id: this.id,
      pid: this.pid,
      argv: [...this.#what.argv],
      cwd: this.#what.cwd,
      running: !this.ended,
      startedAt: this.#startedAt,
      outputId: this.output.id,
      ...(this.#end ?? { exitCode: null, signal: null, endedBy: null, durationMs: null }),
    };
  }

  /** Sends a signal to the process and to all that it started, also when it has ended itself. */
  signal(name: NodeJS.Signals): Promise<void> {
    return killTree(this.#launcher, [this.pid], name);
  }

  /** Resolves when the data are on their way, which depends on how fast the process reads. */
  async write(data: Buffer, options: { end: boolean; signal?: AbortSignal | undefined }): Promise<void> {
    const { stdin } = this.#launched;
    if (this.ended || !stdin.writable) {
      throw new WorkcellError(
        'invalid-action',
        this.ended
          ? `Process "${this.id}" has ended and takes no input.`
          : `The input of process "${this.id}" is closed; start it with keepStdin to write to it later.`,
        { details: { id: this.id } },
      );
    }
    const full = data.length > 0 && !stdin.write(data);
    if (options.end) stdin.end();
    else if (full) await untilWritable(stdin, options.signal);
  }

  /** Counts a listener in, so that the process waits for it. The returned function lets it go. */
  addFollower(positions: Positions): () => void {
    this.#followers.add(positions);
    return () => {
      this.#followers.delete(positions);
      this.moved();
    };
  }

  change(): Promise<void> {
    return this.#changes.next();
  }

  moved(): void {
    if (this.held === undefined || this.#isBehind()) return;
    this.held = undefined;
    this.#release();
    for (const stream of this.#open) this.#launched[stream].resume();
  }

  #listen(stream: ProcessStream): void {
    const readable = this.#launched[stream];
    const spool = this.spools[stream];
    readable.lend((chunk) => {
      spool.append(chunk);
      this.receivedBytes += chunk.length;
      if (this.receivedBytes > (this.#limits.outputLimitBytes ?? Number.POSITIVE_INFINITY)) {
        void this.#kill('output-limit');
      }
      this.#changes.notify();
      if (this.#followers.size > 0 && this.#isBehind()) this.#hold();
    });
    const close = () => {
      this.#open.delete(stream);
      this.output.complete = this.closed && this.ended;
    };
    readable.once('end', close);
    readable.once('close', close);
    readable.on('error', close);
  }

  #isBehind(): boolean {
    // No writer remains to slow down: the pipes hold little, and other callers want the result.
    if (this.#exited) return false;
    const { stdout, stderr } = this.spools;
    for (const positions of this.#followers) {
      if (stdout.totalBytes - positions.stdout > windowBytes) return true;
      if (stderr.totalBytes - positions.stderr > windowBytes) return true;
    }
    return false;
  }

  #hold(): void {
    // Something else may have restarted a stream, as Node does when a child exits.
    for (const stream of this.#open) this.#launched[stream].pause();
    this.held ??= new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  async #kill(reason: EndedBy): Promise<void> {
    if (this.#endedBy !== undefined) return;
    this.#endedBy = reason;
    await this.signal('SIGKILL');
  }

  async #untilGone(): Promise<void> {
    const { exitCode, signal } = await this.#launched.exited;
    this.#exited = true;
    this.moved();
    const durationMs = performance.now() - this.#started;
    clearTimeout(this.#timer);
    const oom = signal === 'SIGKILL' && (this.#launcher.oomKills?.() ?? 0) > this.#oomKillsBefore;
    const byItself = signal !== null ? (oom ? 'oom' : 'killed') : exitCode === null ? 'lost' : 'exit';
    await untilQuiet(this);
    this.#end = { exitCode, signal, endedBy: this.#endedBy ?? byItself, durationMs };
    this.output.complete = this.closed;
    this.#launched.stdin.destroy();
    this.#changes.notify();
  }
}

/** Waits for room in the pipe; a process that ends or closes its input has room for everything. */
function untilWritable(stdin: LaunchedProcess['stdin'], signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const detach = () => {
      stdin.off('drain', finish);
      stdin.off('close', finish);
      signal?.removeEventListener('abort', cancel);
    };
    const finish = () => {
      detach();
      resolve();
    };
    const cancel = () => {
      detach();
      reject(
        new WorkcellError(
          'cancelled',
          'The caller stopped waiting; what was written still goes to the process.',
        ),
      );
    };
    stdin.once('drain', finish);
    stdin.once('close', finish);
    signal?.addEventListener('abort', cancel, { once: true });
  });
}
