/** Starts programs in a cell through its relay. */
import type { ExitStatus, LaunchedProcess, LaunchedPty, PtyOptions, SpawnOptions } from '../launcher.js';
import { attachMaster, closeEnd, type Referenced, resizeMaster } from '../pty.js';
import { Attempt } from './attempt.js';
import { pipedRequest, resizeRequest, type Start, scriptRequest, terminalRequest } from './bash-relay.js';
import { type CellProcesses, type Identity, startMark } from './cell-processes.js';
import { openInput, openOutput, type Pipe } from './named-pipes.js';
import { pumpedPty } from './pumped-pty.js';
import type { RequestEvents, RunningCell } from './running-cell.js';
import { startFailure } from './start-failure.js';

export class Starter {
  readonly #cell: RunningCell;
  readonly #control: string;
  readonly #processes: CellProcesses;
  /** The outer end of the cell's own terminal, until something runs on it. */
  #master: number | undefined;
  #own: Referenced | undefined;

  constructor(parts: { cell: RunningCell; control: string; master: number; processes: CellProcesses }) {
    this.#cell = parts.cell;
    this.#control = parts.control;
    this.#processes = parts.processes;
    this.#master = parts.master;
  }

  async spawn(argv: readonly string[], options: SpawnOptions): Promise<LaunchedProcess> {
    const start = this.#next(argv, options);
    const [stdin, stdout, stderr] = await Promise.all([
      openInput(this.#control, `${start.key}.in`),
      openOutput(this.#control, `${start.key}.out`),
      openOutput(this.#control, `${start.key}.err`),
    ]);
    const pipes = [stdin, stdout, stderr];
    const source = pipedRequest(start, {
      stdin: stdin.inside,
      stdout: stdout.inside,
      stderr: stderr.inside,
    });
    const { pid, exited, streamsEnded } = await this.#start(start, options, source, pipes);
    const closed = [stdout, stderr].map(
      ({ stream }) => new Promise((resolve) => stream.once('close', resolve)),
    );
    void Promise.all(closed).then(streamsEnded);
    return { pid, stdin: stdin.stream, stdout: stdout.stream, stderr: stderr.stream, exited };
  }

  openPty(argv: readonly string[], options: PtyOptions): Promise<LaunchedPty> {
    const master = this.#master;
    if (master === undefined) return this.#openPumped(argv, options);
    this.#master = undefined;
    return this.#openOwn(master, argv, options);
  }

  ref(): void {
    this.#own?.ref();
  }

  unref(): void {
    this.#own?.unref();
  }

  /** Closes the terminal if nothing ever ran on it. */
  close(): void {
    if (this.#master !== undefined) closeEnd(this.#master);
    this.#master = undefined;
  }

  /** On the terminal that bubblewrap started with: nothing stands between it and the program. */
  async #openOwn(master: number, argv: readonly string[], options: PtyOptions): Promise<LaunchedPty> {
    try {
      const start = this.#next(argv, options);
      const channel = await this.#channel(start, options);
      const source = terminalRequest({ ...start, channel: channel?.inside });
      const pipes = channel === undefined ? [] : [channel];
      // The program may ask for the size at once.
      resizeMaster(master, options.columns, options.rows);
      const { pid, exited, streamsEnded } = await this.#start(start, options, source, pipes);
      const pty = attachMaster(master, pid, exited);
      pty.onEnd(streamsEnded);
      this.#own = pty;
      return {
        ...pty,
        channel: channel?.stream,
        onEnd: (listener) =>
          pty.onEnd(() => {
            streamsEnded();
            listener();
          }),
      };
    } catch (error) {
      closeEnd(master);
      throw error;
    }
  }

  async #openPumped(argv: readonly string[], options: PtyOptions): Promise<LaunchedPty> {
    const start = this.#next(argv, options);
    const [input, output, channel] = await Promise.all([
      openInput(this.#control, `${start.key}.in`),
      openOutput(this.#control, `${start.key}.out`),
      this.#channel(start, options),
    ]);
    const request = scriptRequest(
      { ...start, channel: channel?.inside },
      { stdin: input.inside, stdout: output.inside },
      options,
    );
    const pipes = [input, output, ...(channel === undefined ? [] : [channel])];
    const started = await this.#start(start, options, request, pipes);
    const { terminal = '' } = started;
    output.stream.once('close', started.streamsEnded);
    return {
      ...pumpedPty({
        ...started,
        input: input.stream,
        output: output.stream,
        resize: (columns, rows) => this.#resize(terminal, columns, rows),
        hangUp: () => {
          if (started.pump?.isAlive()) this.#processes.signal([started.pump.pid], 'SIGKILL');
        },
      }),
      channel: channel?.stream,
    };
  }

  async #channel(start: Start, options: PtyOptions): Promise<Pipe | undefined> {
    if (!options.channel) return undefined;
    const pipe = await openInput(this.#control, `${start.key}.channel`);
    // Commands keep this process alive; their pipes do not.
    pipe.stream.unref();
    return pipe;
  }

  /** Settles when the terminal has its new size, or the cell has ended. */
  #resize(terminal: string, columns: number, rows: number): Promise<void> {
    const { key } = this.#cell.next();
    return new Promise((resolve) => {
      const events = { onSupervisor() {}, onStart() {}, onEnd() {}, onFail: () => resolve() };
      this.#cell.send(key, resizeRequest(key, terminal, columns, rows), events);
    });
  }

  #next(argv: readonly string[], { cwd, env }: SpawnOptions): Start & { readonly number: number } {
    const { number, key } = this.#cell.next();
    return { number, key, argv, cwd, env, mark: startMark(number) };
  }

  #start(
    start: Start & { readonly number: number },
    options: SpawnOptions,
    source: string,
    pipes: readonly Pipe[],
  ) {
    return new Promise<Started>((resolve, reject) => {
      let settleExit = (_status: ExitStatus): void => {};
      const exited = new Promise<ExitStatus>((settle) => {
        settleExit = settle;
      });
      const attempt = new Attempt(() => fail('killed'));
      const end = (status: ExitStatus) => {
        attempt.stop();
        settleExit(status);
      };
      let started = false;
      const fail = (reason: string) => {
        // The program ran, and its output still waits for a reader.
        if (started) return;
        attempt.stop();
        for (const pipe of pipes) pipe.discard();
        reject(startFailure(reason, start.argv, options));
      };
      const events: RequestEvents = {
        onSupervisor: (pid) => {
          attempt.supervisor = this.#processes.addHelper(pid);
        },
        onPump: (pid) => {
          attempt.pump = this.#processes.addHelper(pid);
        },
        onStart: (pid, terminal) => {
          started = true;
          attempt.started();
          for (const pipe of pipes) pipe.settle();
          this.#processes.started(start.number, pid, exited, attempt.pump);
          const program = this.#processes.identify(pid);
          const streamsEnded = () =>
            void attempt.confirmEnd(program).then(() => end({ exitCode: null, signal: 'SIGKILL' }));
          resolve({ pid, terminal, pump: attempt.pump, exited, streamsEnded });
        },
        onFail: fail,
        onEnd: (status) => {
          end(status);
          // One that ended before it reported a program found no terminal for it.
          fail('no-terminal');
        },
      };
      try {
        this.#cell.send(start.key, source, events);
      } catch (error) {
        attempt.stop();
        for (const pipe of pipes) pipe.discard();
        reject(error);
      }
    });
  }
}

interface Started {
  readonly pid: number;
  readonly terminal: string | undefined;
  readonly pump: Identity | undefined;
  readonly exited: Promise<ExitStatus>;
  /** Call it when nothing holds the program's output open. */
  streamsEnded(): void;
}
