/** Writes events into a store: all that came at one moment, or during the previous write, at once. */
import type { WorkcellEvent } from '../../protocol/index.js';
import type { EventStore } from './event-store.js';

/** More than this goes into several writes, so that none takes long. */
const largestBatch = 1000;

interface Waiter {
  /** How many events must be in the store. */
  readonly count: number;
  resolve(): void;
  reject(error: unknown): void;
}

export class Writer {
  readonly #store: EventStore;
  readonly #alone: () => boolean;
  #queue: WorkcellEvent[] = [];
  #added = 0;
  #written = 0;
  #waiters: Waiter[] = [];
  #due = false;
  #writing = false;
  #failed = false;

  /** `alone` tells whether only one stream writes here. */
  constructor(store: EventStore, alone: () => boolean = () => false) {
    this.#store = store;
    this.#alone = alone;
  }

  add(event: WorkcellEvent): void {
    this.#queue.push(event);
    this.#added++;
    this.#start();
  }

  /**
   * Resolves when the store has all events so far; undefined when it has them already. After a failure the queue stays
   * for the next attempt.
   */
  flushed(): Promise<void> | undefined {
    if (this.#written === this.#added) return undefined;
    // With a single writer there are no other events to write in the same batch.
    if (
      !this.#writing &&
      !this.#failed &&
      this.#store.immediate &&
      this.#alone() &&
      this.#queue.length <= largestBatch
    ) {
      if (this.#writeNow()) return undefined;
    }
    return new Promise((resolve, reject) => {
      this.#waiters.push({ count: this.#added, resolve, reject });
      // A caller waits, so wait only for events of this very moment.
      queueMicrotask(() => {
        if (!this.#writing) void this.#write();
      });
    });
  }

  /** True when the store has the queue, which a store that writes at once shows by returning. */
  #writeNow(): boolean {
    try {
      void this.#store.append(this.#queue);
    } catch {
      // The next attempt reports the error to its callers.
      this.#failed = true;
      return false;
    }
    this.#written += this.#queue.length;
    this.#queue = [];
    this.#settle();
    return true;
  }

  #start(): void {
    if (this.#due || this.#writing) return;
    this.#due = true;
    setImmediate(() => {
      this.#due = false;
      if (!this.#writing) void this.#write();
    });
  }

  async #write(): Promise<void> {
    this.#writing = true;
    try {
      while (this.#queue.length > 0) {
        const batch = this.#queue.slice(0, largestBatch);
        const kept = this.#store.append(this.#failed ? await this.#missing(batch) : batch);
        if (kept !== undefined) await kept;
        this.#failed = false;
        this.#queue = this.#queue.slice(batch.length);
        this.#written += batch.length;
        this.#settle();
      }
    } catch (error) {
      this.#failed = true;
      for (const waiter of this.#waiters.splice(0)) waiter.reject(error);
    } finally {
      this.#writing = false;
    }
  }

  /** An attempt without an answer may have succeeded. */
  async #missing(batch: readonly WorkcellEvent[]): Promise<WorkcellEvent[]> {
    const last = new Map<string, number>();
    for (const { runtimeId } of batch)
      if (!last.has(runtimeId)) last.set(runtimeId, await this.#store.last(runtimeId));
    return batch.filter(({ runtimeId, id }) => id > (last.get(runtimeId) ?? 0));
  }

  /** Waiters are in the order of their counts. */
  #settle(): void {
    let done = 0;
    while ((this.#waiters[done]?.count ?? Number.POSITIVE_INFINITY) <= this.#written) done++;
    for (const waiter of this.#waiters.splice(0, done)) waiter.resolve();
  }
}
