/** Starts bubblewrap with the relay in it, and talks to the relay. */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:os';
import { WorkcellError } from '../../../protocol/index.js';
import type { ExitStatus } from '../launcher.js';
import type { Referenced } from '../pty.js';
import type { SeccompOptions } from '../seccomp/index.js';
import {
  bashInside,
  haltRequest,
  parseReport,
  type ReportLine,
  relaySource,
  relayVariables,
  requestMessage,
} from './bash-relay.js';
import { bubblewrapArguments, type MountOptions } from './bubblewrap-arguments.js';
import { familyOf } from './cell-processes.js';
import { filterFile } from './filter-file.js';
import { cellEnvironment } from './layout.js';
import { descriptors, startWired, type Wire } from './relay-pipes.js';

export interface CellOptions extends MountOptions {
  /** The control directory, as this side sees it. */
  readonly control: string;
  /** Path of bubblewrap. */
  readonly program: string;
  /** Puts the cell's first process, which this side knows by this number, under the limits of the cell. */
  enter(hostPid: number): Promise<void>;
  /** What stands before the bubblewrap command, such as `taskset -c 0`. */
  readonly prefix: readonly string[];
  /** Shell statements inside, before anything else: resource limits. */
  readonly setup: string;
  readonly seccomp?: SeccompOptions | undefined;
}

/** Reports about one request. */
export interface RequestEvents {
  /** The process inside that will report the end. */
  onSupervisor(pid: number): void;
  onStart(pid: number, terminal: string | undefined): void;
  onFail(reason: string): void;
  onEnd(status: ExitStatus): void;
  onPump?(pid: number): void;
}

export interface RunningCell extends Referenced {
  /** Settles when the relay takes requests and all processes are under the limits. Requests may come before. */
  readonly ready: Promise<void>;
  /** The relay, as this side numbers it. */
  readonly hostPid: number;
  /** The process of bubblewrap that stays outside, once it has made the namespaces around the cell. */
  readonly outside: Promise<number>;
  /** How it ended, in words. */
  readonly exited: Promise<string>;
  /** The number of the next request, and the key that identifies its reports. */
  next(): { number: number; key: string };
  /** Makes the relay run a request. */
  send(key: string, source: string, events: RequestEvents): void;
  /**
   * Stops every process but the relay at one instant. Settles when they have stopped; rejects when the cell has
   * ended.
   */
  halt(): Promise<void>;
  /** Ends every process of the cell; settles when all have ended. */
  kill(): Promise<void>;
}

/** Settles when the start of bubblewrap is under way. */
export async function startCell(options: CellOptions): Promise<RunningCell> {
  const relay = new Relay(options.control, options.enter);
  await relay.start(commandLine(options), filterFile(options.seccomp));
  return relay;
}

/**
 * While the kernel moves the first process, bubblewrap and the relay run, and may have started early programs. Those
 * are Workcell's own code, which waits for commands; move them too before sending any.
 */
async function enterAll(first: number, enter: CellOptions['enter']): Promise<void> {
  const entered = new Set<number>();
  for (let left = [first]; left.length > 0; ) {
    for (const pid of left) entered.add(pid);
    await Promise.all(left.map(enter));
    left = [...familyOf(first)].filter((pid) => !entered.has(pid));
  }
}

function commandLine(options: CellOptions): string[] {
  return [
    ...options.prefix,
    options.program,
    ...bubblewrapArguments(options, descriptors),
    ...relayVariables.flatMap((name) => ['--setenv', name, cellEnvironment[name] as string]),
    '--',
    bashInside,
    '-c',
    relaySource(options.setup),
  ];
}

/**
 * Few reports belong to no known request, such as the end of one that failed to start. Do not trust any report of a
 * cell that sends many of them, or one without end.
 */
const strayLines = 1000;
const longestLine = 65_536;

class Relay implements RunningCell {
  hostPid = 0;
  readonly exited: Promise<string>;
  #wire: Wire | undefined;
  readonly #control: string;
  readonly #requests = new Map<string, RequestEvents>();
  /** The requests whose supervisor we know. */
  readonly #supervised = new Set<string>();
  readonly #pumps = new Set<number>();
  readonly #programs = new Set<number>();
  /** Process ids of programs that exited, rather than died by a signal. */
  readonly #exitedByThemselves = new Set<number>();
  #count = 0;
  #strays = 0;
  #pending = '';
  #complaint = '';
  #ready = false;
  #gone = false;

  readonly ready: Promise<void>;
  readonly outside: Promise<number>;
  #onKnown = (_hostPid: number): void => {};
  #onReady = (): void => {};
  #onFailure = (_error: WorkcellError): void => {};
  #onExit = (_how: string): void => {};

  constructor(control: string, enter: CellOptions['enter']) {
    this.#control = control;
    const known = new Promise<number>((resolve) => {
      this.#onKnown = resolve;
    });
    const started = new Promise<void>((resolve, reject) => {
      this.#onReady = resolve;
      this.#onFailure = reject;
    });
    this.ready = Promise.all([known.then((pid) => enterAll(pid, enter)), started]).then(
      () => {},
      async (error: unknown) => {
        await this.kill();
        throw error;
      },
    );
    this.outside = Promise.race([known, started.then(() => 0)]).then(() => (this.#wire as Wire).pid);
    // Whoever waits for it gets the failure.
    this.outside.catch(() => {});
    this.exited = new Promise((resolve) => {
      this.#onExit = resolve;
    });
  }

  async start(argv: readonly string[], filter: string): Promise<void> {
    const wired = { control: this.#control, filter };
    this.#wire = await startWired(argv, wired, (chunk) => this.#receive(chunk));
    this.#wire.ended.then(
      (how) => this.#ended(how),
      (error: Error) => this.#ended(`it could not be started: ${error.message}`),
    );
  }

  next(): { number: number; key: string } {
    return { number: ++this.#count, key: randomBytes(12).toString('hex') };
  }

  send(key: string, source: string, events: RequestEvents): void {
    if (this.#gone) throw hasEnded();
    if (source.includes('\0')) {
      throw new WorkcellError(
        'invalid-action',
        'A NUL character cannot be in the arguments, variables or working directory of a program; leave it out.',
      );
    }
    this.#requests.set(key, events);
    this.#wire?.send(requestMessage(source));
  }

  async halt(): Promise<void> {
    if (this.#gone) throw hasEnded();
    const { key } = this.next();
    const reason = await new Promise<string>((resolve) => {
      this.#requests.set(key, { onSupervisor() {}, onStart() {}, onEnd() {}, onFail: resolve });
      this.#wire?.send(requestMessage(haltRequest(key), 'here'));
    });
    if (reason !== 'done') throw hasEnded();
  }

  async kill(): Promise<void> {
    if (!this.#gone) {
      // The end of the first process ends all others, and bubblewrap ends after them.
      if (this.hostPid > 0) kill(this.hostPid);
      else await this.#wire?.pid.then(kill, () => {});
    }
    await this.exited;
  }

  ref(): void {
    this.#wire?.ref();
  }

  unref(): void {
    this.#wire?.unref();
  }

  #receive(chunk: Buffer): void {
    const lines = (this.#pending + chunk.toString('latin1')).split('\n');
    this.#pending = lines.pop() ?? '';
    for (const line of lines) {
      const report = parseReport(line);
      if (report !== undefined && this.#isExpected(report)) this.#handle(report);
      else if (!this.#ready) this.#meet(line);
      else this.#strays++;
    }
    if (this.#pending.length > longestLine || this.#strays > strayLines + this.#count) void this.kill();
  }

  /** A report must match a request and name each helper once. */
  #isExpected(report: ReportLine): boolean {
    if (report.kind === 'ready') return !this.#ready;
    if (report.kind === 'job') return this.#programs.has(report.pid);
    if (report.kind === 'supervisor' && this.#supervised.has(report.key)) return false;
    return this.#requests.has(report.key);
  }

  /** What comes before the relay is bubblewrap's: an object in JSON with the process it made, and complaints. */
  #meet(line: string): void {
    const match = /^ *"child-pid": (\d+)/.exec(line);
    if (match !== null && this.hostPid === 0) {
      this.hostPid = Number(match[1]);
      this.#onKnown(this.hostPid);
    } else if (!/^([{}]| +")/.test(line)) this.#complaint += `${line}\n`;
  }

  #handle(report: ReportLine): void {
    switch (report.kind) {
      case 'ready':
        this.#ready = true;
        this.#wire?.settle();
        this.#onReady();
        return;
      case 'supervisor':
        this.#supervised.add(report.key);
        this.#requests.get(report.key)?.onSupervisor(report.pid);
        return;
      case 'job':
        if (report.exited) this.#exitedByThemselves.add(report.pid);
        else this.#exitedByThemselves.delete(report.pid);
        return;
      case 'pump':
        this.#pumps.add(report.pid);
        this.#programs.add(report.pid);
        this.#requests.get(report.key)?.onPump?.(report.pid);
        return;
      case 'start':
        this.#programs.add(report.pid);
        this.#requests.get(report.key)?.onStart(report.pid, report.terminal);
        return;
      case 'fail':
        this.#requests.get(report.key)?.onFail(report.reason);
        this.#forget(report.key);
        return;
      case 'end': {
        // A pump passes on the status of its program, in which a signal looks like an exit.
        const pumped = this.#pumps.delete(report.pid);
        this.#programs.delete(report.pid);
        const exited = this.#exitedByThemselves.delete(report.pid) && !pumped;
        this.#requests.get(report.key)?.onEnd(exitStatus(report.status, exited));
        this.#forget(report.key);
      }
    }
  }

  #ended(how: string): void {
    if (this.#gone) return;
    this.#gone = true;
    if (!this.#ready) this.#onFailure(startFailure(this.#complaint.trim() || this.#pending.trim() || how));
    for (const events of this.#requests.values()) {
      events.onFail('gone');
      events.onEnd({ exitCode: null, signal: 'SIGKILL' });
    }
    this.#requests.clear();
    this.#onExit(how);
  }

  #forget(key: string): void {
    this.#requests.delete(key);
    this.#supervised.delete(key);
  }
}

/** In a shell a status above 128 is either a signal or an exit with such a code; the job's own words tell which. */
function exitStatus(status: number, exited: boolean): ExitStatus {
  const signal = exited ? undefined : signalNames.get(status - 128);
  return signal === undefined ? { exitCode: status, signal: null } : { exitCode: null, signal };
}

/** Where a number has two names, the list has the usual one first. */
const signalNames = new Map(
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number, name]),
);

function hasEnded(): WorkcellError {
  return new WorkcellError('runtime-closed', 'The cell has ended; start a new one.');
}

function startFailure(complaint: string): WorkcellError {
  return new WorkcellError(
    'backend-unavailable',
    `The sandbox did not start: ${complaint}. Run workcell doctor to see what this machine allows.`,
    { details: { complaint } },
  );
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
}
