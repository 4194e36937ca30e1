/**
 * Measures how long the event loop of this process stood still, and how much memory it took. Time in which the machine
 * gave the thread no processor does not count: the kernel tells it for each thread, and a second thread that does nothing
 * else tells what the whole machine lost.
 */
import { closeSync, openSync, readSync } from 'node:fs';
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
  const shared = new Float64Array(new SharedArrayBuffer(16));
  const worker = new Worker(control, { eval: true, workerData: { shared, intervalMs } });
  worker.unref();
  await new Promise((resolve) => worker.once('message', resolve));
  const scheduler = openSync('/proc/thread-self/schedstat', 'r');
  const text = Buffer.alloc(128);
  const lostMs = () => {
    const length = readSync(scheduler, text, 0, text.length, 0);
    return Number(text.toString('latin1', 0, length).split(' ')[1]) / 1e6 + (shared[noise] as number);
  };
  let last = { at: performance.now(), lost: lostMs() };
  let stallMs = 0;
  const beat = () => {
    const now = { at: performance.now(), lost: lostMs() };
    stallMs = Math.max(stallMs, now.at - last.at - intervalMs - (now.lost - last.lost));
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
      closeSync(scheduler);
      await worker.terminate();
    },
  };
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
