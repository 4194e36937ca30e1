/**
 * Stops and resumes every process of a cell. A shell must not see that its command stopped, because it would take
 * that for Ctrl-Z: so parents stop before their children and resume after them. `script` looks at nothing but the
 * signal, so each parent gets a pending signal of that kind before its children stop; the kernel then drops the one
 * that would tell of it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { WorkcellError } from '../../../protocol/index.js';
import { childrenOf, familyOf } from './cell-processes.js';

/** A process in the middle of a system call stops when that is over. */
const stopMs = 1000;

/** How long to try to stop a whole cell: its programs may start and resume each other. */
const familyMs = 3000;

/**
 * How long a halt takes care to hide itself from shells. Programs that resume each other would make it last for ever.
 */
const careMs = 500;

/**
 * So many processes stop one by one, each before its children. Of more than that, only the parents that have been there for
 * a moment do: programs that start others without pause make many young ones.
 */
const fewProcesses = 64;
const youngSeconds = 0.2;
const ticksPerSecond = 100;

export interface Halting {
  /** The first process of the cell, as this side numbers it. */
  readonly hostPid: number;
  /** Stops all but the first at one instant. */
  halt(): Promise<void>;
}

/** Stops what descends from one process. */
export class Freezer {
  readonly #cell: Halting;
  readonly #onResume: () => void;
  #frozen: Promise<void> | undefined;
  /** Settles when earlier callers have released the cell. */
  #turn: Promise<void> = Promise.resolve();

  constructor(cell: Halting, onResume: () => void) {
    this.#cell = cell;
    this.#onResume = onResume;
  }

  /** While the processes are stopped: settles when they resume. */
  frozen(): Promise<void> | undefined {
    return this.#frozen;
  }

  /** Stops them, the first included; returns the function that resumes them. */
  async freeze(): Promise<() => void> {
    let onThaw = () => {};
    const frozen = new Promise<void>((resolve) => {
      onThaw = resolve;
    });
    this.#frozen = frozen;
    const letGo = await this.#takeTurn();
    const goOn = () => {
      if (this.#frozen === frozen) this.#frozen = undefined;
      onThaw();
      this.#onResume();
      letGo();
    };
    try {
      const thaw = await stopFamily(this.#cell.hostPid);
      return () => {
        thaw();
        goOn();
      };
    } catch (error) {
      goOn();
      throw error;
    }
  }

  /**
   * Calls `work` while all of them but the first are stopped. Also stops programs that start others faster than we
   * can stop them one by one. Rejects when the cell ends.
   */
  async halt<T>(work: () => T): Promise<T> {
    const letGo = await this.#takeTurn();
    try {
      const isOurs = await stopParents(this.#cell.hostPid);
      try {
        await this.#cell.halt();
        await allStopped(this.#cell.hostPid);
        return work();
      } finally {
        await resumeAll(this.#cell.hostPid, isOurs);
      }
    } finally {
      this.#onResume();
      letGo();
    }
  }

  /** Settles when no other caller holds the cell; returns the function that releases it. */
  async #takeTurn(): Promise<() => void> {
    const before = this.#turn;
    let letGo = () => {};
    this.#turn = new Promise((resolve) => {
      letGo = resolve;
    });
    await before;
    return letGo;
  }
}

/**
 * A process that still runs can start others and resume those that stopped, so one look at each proves nothing. When two
 * looks at all of them in a row find the same threads, all stopped, and none of them ran in between, then nothing runs.
 */
async function stopFamily(first: number): Promise<() => void> {
  const stopped = new Set<number>();
  const deadline = performance.now() + familyMs;
  let before: string | undefined;
  do {
    const still: string[] = [];
    let isStill = true;
    for (const pid of familyOf(first)) {
      const threads = stoppedThreads(pid);
      if (threads !== undefined) {
        still.push(threads);
        continue;
      }
      isStill = false;
      // When the others resume, leave a process stopped that was stopped before, and signal none that has ended.
      if (look(pid) !== undefined) stopped.add(pid);
      await stop(pid, Math.min(performance.now() + stopMs, deadline));
    }
    const now = isStill ? still.join('\n') : undefined;
    if (now !== undefined && now === before) return () => resume(stopped);
    before = now;
    await nextTurn();
  } while (performance.now() < deadline);
  resume(stopped);
  throw new WorkcellError(
    'internal',
    `Programs in the cell start or resume each other, or do not stop, so it was not paused within ${familyMs} ms. End its commands first.`,
  );
}

function resume(stopped: ReadonlySet<number>): void {
  for (const pid of [...stopped].reverse()) send(pid, 'SIGCONT');
}

/**
 * The threads of a process and how often each has run, when all of them are stopped. Undefined when one is not, and for a
 * process that has ended since somebody saw it: it may have done anything before. The first thread may end before others.
 */
function stoppedThreads(pid: number): string | undefined {
  try {
    const threads = readdirSync(`/proc/${pid}/task`).map((thread) => {
      const status = readFileSync(`/proc/${pid}/task/${thread}/status`, 'latin1');
      if (!/^State:\t[TtZX]/m.test(status)) return undefined;
      return [thread, ...(status.match(/^\w+_ctxt_switches:\t\d+$/gm) ?? [])].join(' ');
    });
    return threads.includes(undefined) ? undefined : `${pid}: ${threads.join(', ')}`;
  } catch {
    return undefined;
  }
}

/**
 * The kernel's list of children leaves one out when another ends while we read it, and those that were killed end now. So
 * look until two lists in a row have nobody to resume. The state of a process is that of its first thread, which may have
 * ended, or wait for a debugger: the first round resumes them whatever it is.
 */
async function resumeAll(first: number, isOurs: (entry: Entry) => boolean): Promise<void> {
  const deadline = performance.now() + stopMs;
  for (const entry of descendants(first).reverse()) if (isOurs(entry)) send(entry.pid, 'SIGCONT');
  for (let quiet = 0; quiet < 2 && performance.now() < deadline; ) {
    await nextTurn();
    const stopped = descendants(first).filter((entry) => entry.state === 'T' && isOurs(entry));
    for (const entry of stopped.reverse()) send(entry.pid, 'SIGCONT');
    quiet = stopped.length === 0 ? quiet + 1 : 0;
  }
}

/**
 * Stops those below the first that would notice that a child stopped. Returns a test for whether a process would run if
 * we did not stop it.
 */
async function stopParents(first: number): Promise<(entry: Entry) => boolean> {
  const all = descendants(first);
  const stoppedBefore = new Map(all.filter(wasStopped).map((entry) => [entry.pid, entry.startTicks]));
  const deadline = performance.now() + careMs;
  const young = (uptime() - youngSeconds) * ticksPerSecond;
  const parents = new Set(all.map((entry) => entry.parentPid));
  const careful =
    all.length <= fewProcesses
      ? all
      : all.filter((entry) => parents.has(entry.pid) && entry.startTicks < young);
  for (let level = new Set([first]); level.size > 0 && performance.now() < deadline; ) {
    const next = careful.filter(
      (entry) => level.has(entry.parentPid) && look(entry.pid)?.startTicks === entry.startTicks,
    );
    await Promise.all(next.map((entry) => stop(entry.pid, deadline)));
    level = new Set(next.map((entry) => entry.pid));
  }
  return ({ pid, startTicks }) => stoppedBefore.get(pid) !== startTicks;
}

/** Where the first thread has ended, the others tell. */
function wasStopped({ pid, state }: Entry): boolean {
  return state === 'Z' ? threadsOf(pid).some((thread) => isHeld(look(pid, thread))) : isHeld({ state });
}

function isHeld(entry: Pick<Entry, 'state'> | undefined): boolean {
  return /^[Tt]/.test(entry?.state ?? '');
}

/** A process in the middle of a fork finishes that first; its child starts out stopped. */
async function allStopped(first: number): Promise<void> {
  const deadline = performance.now() + stopMs;
  while (descendants(first).some((entry) => !entry.isStopped) && performance.now() < deadline)
    await nextTurn();
}

interface Entry {
  readonly pid: number;
  readonly parentPid: number;
  readonly startTicks: number;
  /** One letter, as /proc has it. */
  readonly state: string;
  /** Or has ended. */
  readonly isStopped: boolean;
}

/** Parents come before their children. */
function descendants(first: number): Entry[] {
  return [...familyOf(first)].slice(1).flatMap((pid) => look(pid) ?? []);
}

/** None for a process that has ended. */
function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** A process, or one thread of it. Undefined when it has ended. */
function look(pid: number, thread?: string): Entry | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/${thread === undefined ? '' : `task/${thread}/`}stat`, 'latin1');
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
    const [state = ''] = fields;
    return {
      pid,
      parentPid: Number(fields[1]),
      startTicks: Number(fields[19]),
      state,
      isStopped: /^[TtZX]/.test(state),
    };
  } catch {
    return undefined;
  }
}

/**
 * The kernel tells only a parent when a process has stopped, so look for it; that takes microseconds, and has a
 * limit.
 */
async function stop(pid: number, deadline: number): Promise<void> {
  send(pid, 'SIGSTOP');
  while (!isStopped(pid) && performance.now() < deadline) await nextTurn();
  if (childrenOf(pid).length > 0) send(pid, 'SIGCHLD');
}

/** Whether its first thread is stopped. True also for a process that has ended. */
function isStopped(pid: number): boolean {
  return look(pid)?.isStopped ?? true;
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}
