/** Starts bubblewrap with the relay in it, and talks to the relay. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { WorkcellError } from '../../protocol/index.js';
import { withHiddenDescriptors } from '../inheritance.js';
import type { ExitStatus } from '../launcher.js';
import type { Referenced } from '../pty.js';
import { bubblewrapArguments, type MountOptions } from './arguments.js';
import { openFilter } from './filter.js';
import { searchPath } from './layout.js';
import { parseReport, type ReportLine, relaySource } from './relay.js';

export interface CellOptions extends MountOptions {
  /** Path of bubblewrap. */
  readonly program: string;
  /** Puts the cell's first process, which this side knows by this number, under the limits of the cell. */
  enter(hostPid: number): Promise<void>;
  /** What stands before the bubblewrap command, such as `taskset -c 0`. */
  readonly prefix: readonly string[];
  /** Shell statements inside, before anything else: resource limits. */
  readonly setup: string;
}

/** What happens to one request. */
export interface RequestEvents {
  /** The process inside that will report the end. */
  onSupervisor(pid: number): void;
  onStart(pid: number, terminal: string | undefined): void;
  onFail(reason: string): void;
  onEnd(status: ExitStatus): void;
  onPump?(pid: number): void;
}

export interface RunningCell extends Referenced {
  /** The relay, as this side numbers it. */
  readonly hostPid: number;
  /** How it ended, in words. */
  readonly exited: Promise<string>;
  /** Processes inside that belong to the relay. */
  readonly helpers: ReadonlySet<number>;
  /** Number of the next request. */
  next(): number;
  /** Puts the request in the exchange directory and has the relay run it. */
  send(number: number, source: string, events?: RequestEvents): void;
  /** Ends every process of the cell; settles when all are gone. */
  kill(): Promise<void>;
}

const seccompDescriptor = 3;
/** The output of bubblewrap itself; nothing inside has it. */
const infoDescriptor = 1;

/** Settles when the relay takes requests. */
export async function startCell(options: CellOptions): Promise<RunningCell> {
  const filter = openFilter();
  let relay: Relay;
  try {
    relay = new Relay(spawnBubblewrap(options, filter), options.exchange);
  } finally {
    closeSync(filter);
  }
  try {
    // While the kernel moves the process, bubblewrap goes on with its mounts; no other code runs before both are done.
    await Promise.all([relay.known.then(options.enter), relay.ready]);
    return relay;
  } catch (error) {
    await relay.kill();
    throw error;
  }
}

function spawnBubblewrap(options: CellOptions, filter: number): ChildProcess {
  const [file = '', ...args] = [
    ...options.prefix,
    options.program,
    ...bubblewrapArguments(options, { seccomp: seccompDescriptor, info: infoDescriptor }),
    '--',
    'bash',
    '-c',
    relaySource(options.setup),
  ];
  return spawn(file, args, {
    cwd: '/',
    // Nothing of the caller's environment, and nothing of the cell's either: this much runs outside.
    env: { PATH: searchPath },
    detached: true,
    stdio: withHiddenDescriptors(['pipe', 'pipe', 'pipe', filter]),
  });
}

const dismissMs = 1000;

class Relay implements RunningCell {
  hostPid = 0;
  readonly exited: Promise<string>;
  readonly helpers = new Set<number>();
  readonly #child: ChildProcess;
  readonly #exchange: string;
  readonly #requests = new Map<number, RequestEvents>();
  readonly #supervisors = new Map<number, number>();
  /** Process ids of programs that exited, as opposed to being killed. */
  readonly #exitedByThemselves = new Set<number>();
  #count = 0;
  #pending = '';
  #complaint = '';
  #info = '';
  #ready = false;
  #gone = false;

  /** Settles when the number of the first process is known. */
  readonly known: Promise<number>;
  /** Settles when the first process takes requests. */
  readonly ready: Promise<void>;
  #onKnown = (_hostPid: number): void => {};
  #onReady = (): void => {};
  #onFailure = (_error: WorkcellError): void => {};

  constructor(child: ChildProcess, exchange: string) {
    this.#child = child;
    this.#exchange = exchange;
    this.known = new Promise((resolve) => {
      this.#onKnown = resolve;
    });
    this.ready = new Promise((resolve, reject) => {
      this.#onReady = resolve;
      this.#onFailure = reject;
    });
    (child.stdout as Readable).on('data', (chunk: Buffer) => this.#meet(chunk));
    (child.stderr as Readable).on('data', (chunk: Buffer) => this.#receive(chunk));
    // A relay that is gone is noticed by its exit.
    (child.stdin as Writable).on('error', () => {});
    this.exited = new Promise((resolve) => {
      child.once('error', (error) => this.#ended(`it could not be started: ${error.message}`, resolve));
      child.once('exit', (code, signal) => this.#ended(signal ?? `exit code ${code}`, resolve));
    });
  }

  next(): number {
    return ++this.#count;
  }

  send(number: number, source: string, events?: RequestEvents): void {
    if (this.#gone) throw new WorkcellError('runtime-closed', 'The cell has ended; start a new one.');
    writeFileSync(join(this.#exchange, String(number)), source, { mode: 0o600, flag: 'wx' });
    if (events !== undefined) this.#requests.set(number, events);
    (this.#child.stdin as Writable).write(`${number}\n`);
  }

  async kill(): Promise<void> {
    if (!this.#gone) {
      // The end of the first process takes all others along, and bubblewrap goes when they are gone.
      if (this.hostPid > 0) kill(this.hostPid);
      else if (this.#child.pid !== undefined) kill(this.#child.pid);
    }
    await this.exited;
  }

  ref(): void {
    this.#child.ref();
    for (const stream of this.#streams()) stream.ref();
  }

  unref(): void {
    this.#child.unref();
    for (const stream of this.#streams()) stream.unref();
  }

  #streams(): Socket[] {
    return [this.#child.stdin, this.#child.stdout, this.#child.stderr] as unknown as Socket[];
  }

  #receive(chunk: Buffer): void {
    const lines = (this.#pending + chunk.toString('latin1')).split('\n');
    this.#pending = lines.pop() ?? '';
    for (const line of lines) {
      const report = parseReport(line);
      if (report !== undefined) this.#handle(report);
      else if (!this.#ready) this.#complaint += `${line}\n`;
    }
  }

  /** Bubblewrap writes JSON, in which the process it made comes first. */
  #meet(chunk: Buffer): void {
    this.#info += chunk.toString('latin1');
    const match = /"child-pid": (\d+)\D/.exec(this.#info);
    if (match === null || this.hostPid > 0) return;
    this.hostPid = Number(match[1]);
    this.#onKnown(this.hostPid);
  }

  #handle(report: ReportLine): void {
    switch (report.kind) {
      case 'ready':
        if (this.#ready) return;
        this.#ready = true;
        this.#onReady();
        return;
      case 'supervisor':
        this.#supervisors.set(report.number, report.pid);
        this.helpers.add(report.pid);
        this.#requests.get(report.number)?.onSupervisor(report.pid);
        return;
      case 'job':
        if (report.exited) this.#exitedByThemselves.add(report.pid);
        else this.#exitedByThemselves.delete(report.pid);
        return;
      case 'pump':
        this.helpers.add(report.pid);
        this.#requests.get(report.number)?.onPump?.(report.pid);
        return;
      case 'start':
        this.#discard(report.number);
        this.#requests.get(report.number)?.onStart(report.pid, report.terminal);
        return;
      case 'fail':
        this.#discard(report.number);
        this.#requests.get(report.number)?.onFail(report.reason);
        this.#forget(report.number);
        return;
      case 'end': {
        // A pump passes on the status of its program, in which a signal looks like an exit of its own.
        const pumped = this.helpers.has(report.pid);
        this.#dismiss(report.pid);
        const exited = this.#exitedByThemselves.delete(report.pid) && !pumped;
        this.#requests.get(report.number)?.onEnd(exitStatus(report.status, exited));
        this.#forget(report.number);
      }
    }
  }

  #ended(how: string, resolve: (how: string) => void): void {
    if (this.#gone) return;
    this.#gone = true;
    if (!this.#ready) this.#onFailure(startFailure(this.#complaint.trim() || this.#pending.trim() || how));
    for (const events of this.#requests.values()) {
      events.onFail('gone');
      events.onEnd({ exitCode: null, signal: 'SIGKILL' });
    }
    this.#requests.clear();
    resolve(how);
  }

  #forget(number: number): void {
    this.#requests.delete(number);
    const supervisor = this.#supervisors.get(number);
    this.#supervisors.delete(number);
    if (supervisor !== undefined) this.#dismiss(supervisor);
  }

  /** A helper that made its last report needs a moment to go, in which it is not to be taken for a program. */
  #dismiss(pid: number): void {
    setTimeout(() => this.helpers.delete(pid), dismissMs).unref();
  }

  #discard(number: number): void {
    rmSync(join(this.#exchange, String(number)), { force: true });
  }
}

/** In a shell a status above 128 is either a signal or an exit with such a code; the job's own words tell which. */
function exitStatus(status: number, exited: boolean): ExitStatus {
  const signal = exited ? undefined : signalNames.get(status - 128);
  return signal === undefined ? { exitCode: status, signal: null } : { exitCode: null, signal };
}

/** Where a number has two names, the one that is listed first is the usual one. */
const signalNames = new Map(
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number, name]),
);

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
