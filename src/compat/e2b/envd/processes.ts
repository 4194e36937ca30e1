/** Processes and terminals of a sandbox that clients started, and who listens to each of them. */
import { type Executor, type ProcessInfo, type Terminal, WorkcellError } from '../../../protocol/index.js';
import { isGone, RpcError } from '../e2b-errors.js';

export interface ProcessConfig {
  readonly cmd: string;
  readonly args: readonly string[];
  readonly envs: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
}

interface EndEvent {
  readonly exitCode: number;
  readonly exited: boolean;
  readonly status: string;
  readonly error?: string;
}

export type DataEvent = { stdout: string } | { stderr: string } | { pty: string };

/** Hears of a process until it ends; `onEnd` gets an error when we cannot tell any more. */
export interface ProcessListener {
  /** A returned promise holds the process back. */
  onData(data: DataEvent): Promise<void>;
  onEnd(end: EndEvent | Error): void;
}

export type Selector = { readonly pid?: number | undefined; readonly tag?: string | undefined };

/** Terminals have no process id that this side knows; theirs begin beyond all that a kernel gives. */
const firstTerminalPid = 2 ** 30;

/** How many ends of processes to keep for clients that connect late. */
const keptEnds = 64;

export class Processes {
  readonly #followed = new Map<number, Followed>();
  #terminals = 0;

  add(followed: Followed): void {
    this.#followed.set(followed.pid, followed);
    const ended = [...this.#followed.values()].filter(({ isOver }) => isOver);
    for (const { pid } of ended.slice(0, Math.max(0, ended.length - keptEnds))) this.#followed.delete(pid);
  }

  nextTerminalPid(): number {
    return firstTerminalPid + this.#terminals++;
  }

  /** Also finds a process that this process did not start, because it has itself restarted since. */
  async find(selector: Selector, executor: Executor): Promise<Followed> {
    const { pid, tag } = selector;
    const known =
      pid === undefined
        ? [...this.#followed.values()].find((one) => one.tag === tag && !one.isLost)
        : this.#followed.get(pid);
    // One that we lost sight of, while the way to its cell was broken, may run on.
    if (known !== undefined && !known.isLost) return known;
    const { processes } = await executor.execute<'list_processes'>({ action: 'list_processes' });
    const other = processes.find((one) => one.running && one.pid === pid);
    if (other !== undefined) {
      const followed = new FollowedProcess(executor, other.id, other.pid, configOf(other), undefined);
      this.add(followed);
      followed.follow();
      return followed;
    }
    const what = pid === undefined ? `tag ${tag}` : `pid ${pid}`;
    throw new RpcError('not_found', `process with ${what} not found`);
  }

  async list(executor: Executor): Promise<{ config: object; pid: number; tag?: string | undefined }[]> {
    const { processes } = await executor.execute<'list_processes'>({ action: 'list_processes' });
    const plain = processes
      .filter(({ running }) => running)
      .map((one) => ({ config: configOf(one), pid: one.pid, ...told(this.#followed.get(one.pid)) }));
    const terminals = [...this.#followed.values()]
      .filter((one) => one.isTerminal)
      .flatMap((one) => told(one) ?? []);
    return [...plain, ...terminals];
  }
}

function told(followed: Followed | undefined) {
  if (followed?.config === undefined) return undefined;
  const { config, pid, tag } = followed;
  return { config, pid, ...(tag !== undefined && { tag }) };
}

/** What plain processes and terminals have in common: listeners, and an end that it keeps. */
export abstract class Followed {
  readonly pid: number;
  readonly tag: string | undefined;
  abstract readonly isTerminal: boolean;
  readonly #listeners = new Set<ProcessListener>();
  #config: ProcessConfig | undefined;
  #end: EndEvent | Error | undefined;

  constructor(pid: number, config: ProcessConfig, tag: string | undefined) {
    this.pid = pid;
    this.#config = config;
    this.tag = tag;
  }

  /** Undefined when it is over: arguments and variables can be large, and ends are kept for a while. */
  get config(): ProcessConfig | undefined {
    return this.#config;
  }

  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** Whether the way to it broke, so that nobody can tell its end. */
  get isLost(): boolean {
    return isGone(this.#end);
  }

  /** Returns the function that stops listening. */
  listen(listener: ProcessListener): () => void {
    if (this.#end !== undefined) listener.onEnd(this.#end);
    else this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  abstract write(data: Buffer): Promise<void>;
  abstract closeStdin(): Promise<void>;
  abstract kill(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  abstract resize(columns: number, rows: number): void;

  protected async tell(data: DataEvent): Promise<void> {
    if (this.#listeners.size === 1) for (const { onData } of this.#listeners) return onData(data);
    await Promise.all([...this.#listeners].map(({ onData }) => onData(data)));
  }

  protected finish(end: EndEvent | Error): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#config = undefined;
    for (const { onEnd } of this.#listeners) onEnd(end);
    this.#listeners.clear();
  }
}

export class FollowedProcess extends Followed {
  readonly isTerminal = false;
  readonly #executor: Executor;
  readonly #id: string;

  constructor(executor: Executor, id: string, pid: number, config: ProcessConfig, tag: string | undefined) {
    super(pid, config, tag);
    this.#executor = executor;
    this.#id = id;
  }

  /** Listens to the process until its end, whichever clients come and go. */
  follow(): void {
    const encode = (text: string) => Buffer.from(text).toString('base64');
    this.#executor
      .execute<'wait_process'>(
        {
          action: 'wait_process',
          id: this.#id,
          encoding: 'utf8',
          // All of it came as progress.
          maxOutputBytes: 256,
          stdoutFrom: 0,
          stderrFrom: 0,
        },
        {
          onProgress: (progress) => {
            if (progress.type !== 'output-delta') return undefined;
            const data = encode(progress.text);
            return this.tell(progress.stream === 'stderr' ? { stderr: data } : { stdout: data });
          },
        },
      )
      .then(
        ({ exitCode, signal, endedBy }) =>
          this.finish(
            endedBy === 'timeout'
              ? new RpcError('deadline_exceeded', 'The command took longer than its limit and was killed.')
              : endOf(exitCode, signal),
          ),
        (error: unknown) => this.finish(error as Error),
      );
  }

  async write(data: Buffer): Promise<void> {
    await this.#input({ data: data.toString('base64'), encoding: 'base64' });
  }

  async closeStdin(): Promise<void> {
    await this.#input({ data: '', encoding: 'utf8', end: true });
  }

  async kill(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.isOver) throw new RpcError('not_found', `process with pid ${this.pid} not found`);
    await this.#executor.execute<'signal_process'>({ action: 'signal_process', id: this.#id, signal });
  }

  resize(): void {
    throw new RpcError('failed_precondition', `process with pid ${this.pid} has no terminal`);
  }

  async #input(input: { data: string; encoding: 'utf8' | 'base64'; end?: boolean }): Promise<void> {
    try {
      await this.#executor.execute<'write_process'>({ action: 'write_process', id: this.#id, ...input });
    } catch (error) {
      if (!WorkcellError.isInstance(error) || error.code !== 'invalid-action') throw error;
      throw new RpcError('internal', 'stdin not enabled or closed');
    }
  }
}

export class FollowedTerminal extends Followed {
  readonly isTerminal = true;
  readonly #terminal: Terminal;

  constructor(terminal: Terminal, pid: number, config: ProcessConfig, tag: string | undefined) {
    super(pid, config, tag);
    this.#terminal = terminal;
  }

  follow(timeoutMs: number | undefined): void {
    const limit = timeoutMs === undefined ? undefined : setTimeout(() => void this.kill(), timeoutMs);
    limit?.unref();
    const read = async () => {
      for await (const chunk of this.#terminal.output)
        await this.tell({ pty: Buffer.from(chunk).toString('base64') });
      const { exitCode, signal } = await this.#terminal.exited;
      this.finish(endOf(exitCode, signal));
    };
    read()
      .catch((error: unknown) => this.finish(error as Error))
      .finally(() => clearTimeout(limit));
  }

  write(data: Buffer): Promise<void> {
    return this.#terminal.write(data);
  }

  closeStdin(): Promise<void> {
    throw new RpcError('failed_precondition', 'A terminal has no standard input of its own to close.');
  }

  async kill(): Promise<void> {
    if (this.isOver) throw new RpcError('not_found', `process with pid ${this.pid} not found`);
    await this.#terminal.close();
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows);
  }
}

const signalWords: Record<string, string> = {
  SIGKILL: 'killed',
  SIGTERM: 'terminated',
  SIGINT: 'interrupt',
  SIGSEGV: 'segmentation fault',
  SIGABRT: 'aborted',
  SIGHUP: 'hangup',
};

function endOf(exitCode: number | null, signal: string | null): EndEvent {
  if (signal !== null || exitCode === null) {
    const status = `signal: ${signalWords[signal ?? 'SIGKILL'] ?? signal}`;
    return { exitCode: -1, exited: false, status, error: status };
  }
  const status = `exit status ${exitCode}`;
  return { exitCode, exited: true, status, ...(exitCode !== 0 && { error: status }) };
}

function configOf({ argv: [cmd = '', ...args], cwd }: ProcessInfo): ProcessConfig {
  return { cmd, args, envs: {}, cwd };
}
