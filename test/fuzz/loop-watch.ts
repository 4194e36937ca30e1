/**
 * Measures how long the event loop of this process stood still by its own doing, and how much memory it took. That is what
 * its thread computed, and how long it waited in calls. Time in which the machine gave no processor does not count, neither
 * to this thread nor to the helpers of the engine that it waits for: the kernel tells it for each thread, and one more
 * thread that does nothing else tells what the whole machine lost.
 */
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

export interface LoopWatch {
  /** Returns what it saw since the last call. */
  take(): Seen;
  /** The longest stall since then, so far. */
  stallMs(): number;
  /** Time that this thread waited for a processor, or lost with the whole machine, since the process started. */
  lostMs(): number;
  close(): Promise<void>;
}

interface Seen {
  /** The longest time that the loop stood still by its own doing. */
  readonly stallMs: number;
  /** The most memory that the process held. */
  readonly residentBytes: number;
}

const intervalMs = 5;

/** Places in the memory that both threads see. */
const [noise, resident] = [0, 1];

export async function watchLoop(): Promise<LoopWatch> {
  const others = readdirSync('/proc/self/task')
    .filter((id) => id !== String(process.pid))
    .map((id) => openSync(`/proc/self/task/${id}/schedstat`, 'r'));
  const shared = new Float64Array(new SharedArrayBuffer(16));
  const worker = new Worker(control, { eval: true, workerData: { shared, intervalMs } });
  worker.unref();
  await new Promise((resolve) => worker.once('message', resolve));
  const own = openSync('/proc/thread-self/schedstat', 'r');
  const lostMs = () => scheduled(own).waitedMs + (shared[noise] as number);
  const look = (): Moment => ({
    atMs: performance.now(),
    idleMs: performance.eventLoopUtilization().idle,
    machineMs: shared[noise] as number,
    ...scheduled(own),
    othersWaitedMs: others.map((other) => scheduled(other).waitedMs),
  });
  let last = look();
  let stallMs = 0;
  const beat = () => {
    const now = look();
    stallMs = Math.max(stallMs, ownDoing(last, now));
    last = now;
  };
  const timer = setInterval(beat, intervalMs);
  return {
    lostMs,
    stallMs() {
      beat();
      return stallMs;
    },
    take() {
      beat();
      const seen = { stallMs, residentBytes: shared[resident] as number };
      stallMs = 0;
      shared[resident] = 0;
      return seen;
    },
    async close() {
      clearInterval(timer);
      for (const descriptor of [own, ...others]) closeSync(descriptor);
      await worker.terminate();
    },
  };
}

/** What the clocks of this process say at one moment, each from its own beginning. */
export interface Moment {
  readonly atMs: number;
  /** How long the loop had nothing to do. */
  readonly idleMs: number;
  /** What the whole machine lost. */
  readonly machineMs: number;
  /** How long the thread computed, and how long it could have and got no processor. */
  readonly ranMs: number;
  readonly waitedMs: number;
  readonly othersWaitedMs: readonly number[];
}

/** How long the thread kept its loop from turning between two moments. */
export function ownDoing(before: Moment, now: Moment): number {
  const passed = (of: (moment: Moment) => number) => of(now) - of(before);
  const ranMs = passed(({ ranMs }) => ranMs);
  const busyMs = passed(({ atMs, idleMs, waitedMs }) => atMs - idleMs - waitedMs);
  const helpersMs = Math.max(
    0,
    ...now.othersWaitedMs.map((ms, at) => ms - (before.othersWaitedMs[at] ?? ms)),
  );
  const heldMs = Math.max(0, busyMs - ranMs - helpersMs);
  return Math.max(0, ranMs + heldMs - passed(({ machineMs }) => machineMs));
}

function scheduled(descriptor: number): Pick<Moment, 'ranMs' | 'waitedMs'> {
  const text = Buffer.alloc(128);
  const length = readSync(descriptor, text, 0, text.length, 0);
  const [ranNs, waitedNs] = text.toString('latin1', 0, length).split(' ').map(Number);
  return { ranMs: (ranNs ?? 0) / 1e6, waitedMs: (waitedNs ?? 0) / 1e6 };
}

/** The second thread. It needs no loader, so that it does nothing but this. */
const control = `
const { parentPort, workerData } = require('node:worker_threads');
const { openSync, readSync } = require('node:fs');
const { shared, intervalMs } = workerData;
const scheduler = openSync('/proc/thread-self/schedstat', 'r');
const text = Buffer.alloc(128);
const waited = () => Number(text.toString('latin1', 0, readSync(scheduler, text, 0, text.length, 0)).split(' ')[1]) / 1e6;
const sleeper = new Int32Array(new SharedArrayBuffer(4));
let last = { at: performance.now(), waited: waited() };
parentPort.postMessage('ready');
for (;;) {
  Atomics.wait(sleeper, 0, 0, intervalMs);
  const now = { at: performance.now(), waited: waited() };
  const late = now.at - last.at - intervalMs - (now.waited - last.waited);
  if (late > intervalMs) shared[${0}] += late;
  last = now;
  shared[${1}] = Math.max(shared[${1}], process.memoryUsage.rss());
}`;
