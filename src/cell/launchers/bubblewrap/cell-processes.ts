/** What runs in a cell: read from its own process file system, signalled by the numbers this side knows. */
import { readdirSync, readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import type { CellProcess, ExitStatus } from '../launcher.js';
import { listPids, readProcess } from '../process-table.js';
import type { RunningCell } from './running-cell.js';

/**
 * Every process carries the number of its start, so that we can trace processes that left their parent. The number is
 * a limit on something that the kernel no longer has (`ulimit -x`, file locks). Each child inherits it, whatever
 * variables it gets, and no process can raise it. We can read it from a process in the middle of a fork, whose memory
 * we cannot read then.
 */
export const startMark = (number: number): number => firstMark + number;

/** Out of the way of limits that people set. */
const firstMark = 2 ** 40;

/** How many ended starts to remember, to tell which of them a process left behind belongs to. */
const rememberedStarts = 1024;

/** How long a pump may take to pass on the last output of its program. */
const pumpMs = 100;

/** From this many on, the look at a family takes so long that it may grow meanwhile. */
const largeFamily = 64;
const ticksPerSecond = 100;

/** From this many on, look for dead ones. */
const manyHelpers = 256;

/** One process, and no later one with the same number. */
export interface Identity {
  readonly pid: number;
  isAlive(): boolean;
}

export class CellProcesses {
  #proc: string | undefined;
  readonly #cell: RunningCell;
  readonly #starts = new Map<number, number>();
  readonly #running = new Set<number>();
  readonly #ended: number[] = [];
  /** The pumps of the terminals that programs run on. */
  readonly #pumps = new Map<number, Identity>();
  /** The pumps of programs that this side killed. */
  readonly #idlePumps = new Set<Identity>();
  /**
   * The helpers that report on programs. A program that kills one may get its pid later; `Identity` tells them apart.
   */
  #helpers = new Map<number, Identity>();
  /** Helpers that reports named before we could look at them. */
  readonly #early: Identity[] = [];
  #closed = false;

  constructor(cell: RunningCell) {
    this.#cell = cell;
    void cell.exited.then(() => this.close());
  }

  /**
   * From now on we can look into the cell; until then we see nothing, and every process counts as alive. `proc`: its
   * own process file system.
   */
  open(proc: string): void {
    this.#proc = proc;
    for (const identity of this.#early.splice(0)) identity.isAlive();
  }

  /** A process that Workcell itself put there; no list shows it. */
  addHelper(pid: number): Identity {
    if (this.#helpers.size >= manyHelpers)
      this.#helpers = new Map([...this.#helpers].filter(([, helper]) => helper.isAlive()));
    const helper = this.identify(pid);
    this.#helpers.set(pid, helper);
    return helper;
  }

  /** The process that has this number now. */
  identify(pid: number): Identity {
    const isEarly = this.#proc === undefined;
    let known = isEarly ? null : this.#startOf(pid);
    const identity = {
      pid,
      isAlive: () => {
        if (this.#closed) return false;
        if (this.#proc === undefined) return true;
        const now = this.#startOf(pid);
        if (known === null) known = now;
        return now !== undefined && now === known;
      },
    };
    if (isEarly) this.#early.push(identity);
    return identity;
  }

  #startOf(pid: number): number | undefined {
    return this.#proc === undefined ? undefined : readProcess(pid, this.#proc)?.startTicks;
  }

  /** From now on there is nothing to see or to signal: all processes have ended, or end at once. */
  close(): void {
    this.#closed = true;
  }

  /** Remembers which process a start led to. */
  started(number: number, pid: number, exited: Promise<ExitStatus>, pump?: Identity | undefined): void {
    this.#starts.set(number, pid);
    this.#running.add(pid);
    if (pump !== undefined) this.#pumps.set(pid, pump);
    void exited.then(() => {
      if (pump !== undefined) this.#idlePumps.delete(pump);
      this.#pumps.delete(pid);
      this.#running.delete(pid);
      this.#ended.push(number);
      const oldest = this.#ended.length > rememberedStarts ? this.#ended.shift() : undefined;
      if (oldest !== undefined) this.#starts.delete(oldest);
    });
  }

  /** All processes but those that Workcell itself put there. */
  list(onGone?: (pid: number) => void): CellProcess[] {
    const proc = this.#proc;
    if (this.#closed || proc === undefined) return [];
    const all = pidsIn(proc)
      .filter((pid) => pid !== 1 && !this.#helpers.get(pid)?.isAlive())
      .flatMap((pid) => {
        const entry = readProcess(pid, proc);
        if (entry === undefined) onGone?.(pid);
        return entry ?? [];
      });
    const byPid = new Map(all.map((entry) => [entry.pid, entry]));
    return all.map((entry) => {
      const origin = this.#origin(entry, byPid, proc);
      // In the tree that we return, a process without its parent hangs on the process that it comes from.
      const lost = !byPid.has(entry.parentPid) && origin !== undefined && origin !== entry.pid;
      return { ...entry, parentPid: lost ? origin : entry.parentPid };
    });
  }

  /** Memory in use; shared memory counts in part. */
  proportionalBytes(pid: number): number {
    const match = /^Pss:\s+(\d+) kB$/m.exec(read(`${this.#proc}/${pid}/smaps_rollup`));
    return match === null ? 0 : Number(match[1]) * 1024;
  }

  signal(pids: readonly number[], name: NodeJS.Signals): void {
    if (this.#closed || pids.length === 0) return;
    for (const pump of name === 'SIGKILL' ? pids.map((pid) => this.#pumps.get(pid)) : [])
      if (pump !== undefined) this.#idlePumps.add(pump);
    const wanted = new Set(pids);
    for (const [inside, outside] of hostPids(this.#cell.hostPid, wanted)) {
      if (inside !== 1) send(outside, name);
    }
  }

  /**
   * Call it when stopped processes continue. A pump may not notice that its program ended meanwhile; and if it
   * noticed that the program stopped, it stops itself. `isFrozen`: whether they are stopped again, so that none may run.
   */
  resumed(isFrozen: () => boolean): void {
    if (this.#pumps.size === 0) return;
    const idle = [...this.#idlePumps];
    setTimeout(() => {
      const gone = idle.filter((pump) => this.#idlePumps.delete(pump));
      this.signal(livingPids(gone), 'SIGKILL');
      if (!isFrozen()) this.signal(livingPids([...this.#pumps.values()]), 'SIGCONT');
    }, pumpMs).unref();
  }

  /**
   * A process that is still attached hangs below the started process; one that left carries the number of its start.
   */
  #origin(entry: CellProcess, byPid: ReadonlyMap<number, CellProcess>, proc: string): number | undefined {
    let top = entry;
    for (let parent = byPid.get(top.parentPid); parent !== undefined; parent = byPid.get(top.parentPid))
      top = parent;
    if (this.#running.has(top.pid)) return top.pid;
    const number = readMark(proc, entry.pid) ?? readMark(proc, top.pid);
    if (number !== undefined) return this.#starts.get(number);
    // Without a mark, its origin is still clear when only one thing runs that it could come from.
    const [only, another] = this.#running;
    return another === undefined ? only : undefined;
  }
}

function livingPids(identities: readonly Identity[]): number[] {
  return identities.filter((identity) => identity.isAlive()).map((identity) => identity.pid);
}

function pidsIn(proc: string): number[] {
  try {
    return listPids(proc);
  } catch {
    return [];
  }
}

/** Finds the wanted processes among those that descend from the cell's first one, which all do. */
function hostPids(first: number, wanted: ReadonlySet<number>): Map<number, number> {
  const found = new Map<number, number>();
  for (const pid of familyOf(first)) {
    const inside = insidePid(pid);
    if (inside !== undefined && wanted.has(inside)) found.set(inside, pid);
    if (found.size === wanted.size) break;
  }
  return found;
}

/**
 * All processes of a cell, as this side numbers them. Those that start others without pause would lead on for ever, so in
 * a large family this follows none that is younger than the look at it.
 */
export function* familyOf(first: number): Generator<number> {
  const queue = new Set([first]);
  let seen = 0;
  let youngest = Number.POSITIVE_INFINITY;
  for (const pid of queue) {
    if (++seen === largeFamily) youngest = uptime() * ticksPerSecond;
    if (seen > largeFamily && (readProcess(pid)?.startTicks ?? 0) > youngest) continue;
    yield pid;
    for (const child of childrenOf(pid)) queue.add(child);
  }
}

/** The last of the numbers that a process has in its nested namespaces. */
function insidePid(pid: number): number | undefined {
  const match = /^NSpid:.*\t(\d+)$/m.exec(read(`/proc/${pid}/status`));
  return match === null ? undefined : Number(match[1]);
}

/** A child belongs to the thread that made it. */
export function childrenOf(pid: number): number[] {
  let threads: string[];
  try {
    threads = readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
  return threads.flatMap((thread) =>
    read(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
}

function readMark(proc: string, pid: number): number | undefined {
  const match = /^Max file locks +\d+ +(\d+)/m.exec(read(`${proc}/${pid}/limits`));
  const number = Number(match?.[1]) - firstMark;
  return number > 0 ? number : undefined;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/** An ended process needs no signal. */
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
