/** The events of one runtime, in order: the newest in memory, all of them in a store. */
import { type EventSource, WorkcellError, type WorkcellEvent } from '../../protocol/index.js';
import { matches } from './event-filter.js';
import type { EventFilter, ReadQuery } from './event-store.js';
import { LiveOutput } from './live-output.js';
import { MemoryStore } from './memory-store.js';
import type { StoreAccess } from './open.js';
import { Recent } from './recent.js';
import type { SharedStore } from './shared-store.js';
import type { Take } from './take-actions.js';

/** What to hold for readers that keep up; others read from the store. */
const held = { events: 256, characters: 2 * 1024 * 1024 };

const pageEvents = 256;

type Unstamped<Event> = Event extends WorkcellEvent
  ? Omit<Event, 'id' | 'at' | 'runtimeId' | 'source'>
  : never;

export interface StreamOptions {
  /** Default: memory. */
  readonly store?: StoreAccess | undefined;
  /** The runtime had events before, and new ones follow them. Append nothing until `open` has resolved. */
  readonly continues?: boolean | undefined;
  /**
   * Gets the failure when the store cannot keep events. Without it, such a failure fails every action that waits for
   * an event.
   */
  readonly onLost?: ((error: unknown) => void) | undefined;
}

export class EventStream implements AsyncIterable<WorkcellEvent> {
  readonly output = new LiveOutput();
  readonly #runtimeId: string;
  readonly #wake = new Set<() => void>();
  readonly #listeners = new Set<(event: WorkcellEvent) => void>();
  readonly #recent = new Recent();
  readonly #onLost: ((error: unknown) => void) | undefined;
  readonly #continues: boolean;
  #access: StoreAccess | undefined;
  #memory: MemoryStore | undefined;
  #shared: SharedStore | undefined;
  #opening: Promise<void> | undefined;
  readonly #ended = new AbortController();
  #last = 0;
  #cutting = false;
  #closing: Promise<void> | undefined;

  constructor(runtimeId: string, { store, onLost, continues = false }: StreamOptions = {}) {
    this.#runtimeId = runtimeId;
    this.#access = store;
    this.#onLost = onLost;
    this.#continues = continues;
    if (store === undefined) this.#memory = new MemoryStore();
  }

  /** Adds an event and returns its id. The store has it once `kept()`, called after it, has resolved. */
  append(event: Unstamped<WorkcellEvent>, source: EventSource): number {
    this.#last++;
    const stamped = { ...event, id: this.#last, at: Date.now(), runtimeId: this.#runtimeId, source };
    this.#recent.push(stamped as WorkcellEvent);
    if (event.kind === 'observation' || event.kind === 'error') this.output.end(event.cause);
    this.#memory?.append([stamped as WorkcellEvent]);
    this.#shared?.writer.add(stamped as WorkcellEvent);
    if (this.#recent.exceeds(held)) this.#cut();
    for (const wake of this.#wake) wake();
    for (const listener of this.#listeners) listener(stamped as WorkcellEvent);
    return this.#last;
  }

  /** Calls it with each event from now on, as it comes. Returns the function that stops this. */
  listen(listener: (event: WorkcellEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The name of the store. */
  get store(): string {
    return this.#access?.name ?? 'memory';
  }

  /** Opens the store; events wait for it in memory. Fails only where a failure counts. */
  open(): Promise<void> {
    this.#opening ??= this.#access === undefined ? Promise.resolve() : this.#open(this.#access);
    return this.#opening;
  }

  /** Waits until the store has all events so far; undefined when it has them already. */
  kept(): Promise<void> | undefined {
    if (this.#memory !== undefined) return undefined;
    const flushed =
      this.#shared === undefined ? this.open().then(() => this.kept()) : this.#shared.writer.flushed();
    if (flushed === undefined) return undefined;
    return this.#onLost === undefined ? flushed : flushed.catch((error: unknown) => this.#lose(error));
  }

  [Symbol.asyncIterator](): AsyncIterator<WorkcellEvent> {
    return this.since(0)[Symbol.asyncIterator]();
  }

  /** Every kept event after a cursor that passes the filter, then new ones as they come, until the stream closes. */
  async *since(cursor: number, filter: EventFilter = {}): AsyncIterable<WorkcellEvent> {
    let position = cursor;
    while (true) {
      const { events } = this.#recent;
      const first = events[0]?.id ?? this.#last + 1;
      if (position + 1 < first) {
        const page = await this.#read({ ...filter, after: position, before: first, limit: pageEvents });
        yield* page;
        position = page.length < pageEvents ? first - 1 : (page.at(-1)?.id ?? first - 1);
        continue;
      }
      const next = events[this.#recent.indexAfter(position)];
      if (next !== undefined) {
        position = next.id;
        if (matches(next, filter)) yield next;
      } else if (this.#closing !== undefined) return;
      else await this.#change();
    }
  }

  /** Takes the actions that other processes leave in the store, until the stream closes. */
  takeActions(take: Take, onLost: (error: unknown) => void): void {
    const access = this.#access;
    if (access === undefined)
      throw new WorkcellError(
        'invalid-config',
        'events.drivable needs a store that other processes reach, and this runtime keeps events in memory. Choose one with events.store.',
        { details: { key: 'events.drivable' } },
      );
    const taking = async () => {
      const { takeActions } = await import('./take-actions.js');
      const shared = await access.acquire();
      try {
        await takeActions(shared.store, this.#runtimeId, take, this.#ended.signal);
      } finally {
        shared.release();
      }
    };
    void taking().catch((error: unknown) => {
      if (!this.#ended.signal.aborted) onLost(error);
    });
  }

  /** Ends the subscriptions once they have seen everything, and releases the store. */
  close(): Promise<void> {
    this.output.close();
    this.#ended.abort();
    this.#closing ??= (async () => {
      for (const wake of this.#wake) wake();
      try {
        await this.kept();
      } catch {
        // Callers that waited for an event learned that the store could not keep it.
      } finally {
        this.#shared?.release();
      }
    })();
    return this.#closing;
  }

  async #open(access: StoreAccess): Promise<void> {
    try {
      const shared = await access.acquire();
      if (this.#continues) this.#last = await shared.store.last(this.#runtimeId);
      for (const event of this.#recent.events) shared.writer.add(event);
      this.#shared = shared;
    } catch (error) {
      if (this.#onLost === undefined) throw error;
      this.#lose(error);
    }
  }

  /** Continues in memory alone, if the options allow it. */
  #lose(error: unknown): void {
    if (this.#memory !== undefined) return;
    this.#memory = new MemoryStore();
    this.#memory.append(this.#recent.events);
    this.#shared?.release();
    this.#shared = undefined;
    this.#access = undefined;
    this.#onLost?.(error);
  }

  /** Drops from memory only what the store has. */
  #cut(): void {
    if (this.#cutting) return;
    this.#cutting = true;
    const upTo = this.#last;
    const cut = () => {
      this.#recent.cut(held, upTo);
      this.#cutting = false;
    };
    const kept = this.kept();
    if (kept === undefined) cut();
    else
      kept.then(cut, () => {
        this.#cutting = false;
      });
  }

  async #read(query: ReadQuery): Promise<readonly WorkcellEvent[]> {
    if (this.#memory !== undefined) return this.#memory.read(this.#runtimeId, query);
    const shared = await this.#access?.acquire();
    try {
      return (await shared?.store.read(this.#runtimeId, query)) ?? [];
    } finally {
      shared?.release();
    }
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#wake.delete(wake);
        resolve();
      };
      this.#wake.add(wake);
    });
  }
}
