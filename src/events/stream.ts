/** The events of one runtime, in order, kept in memory within a bound. */
import type { EventSource, WorkcellEvent } from '../protocol/index.js';

const keptEvents = 1000;
/** Characters of output and content that are kept with them. */
const keptCharacters = 32 * 1024 * 1024;

type Unstamped<Event> = Event extends WorkcellEvent
  ? Omit<Event, 'id' | 'at' | 'runtimeId' | 'source'>
  : never;

export class EventStream implements AsyncIterable<WorkcellEvent> {
  readonly #runtimeId: string;
  readonly #wake = new Set<() => void>();
  #kept: WorkcellEvent[] = [];
  #last = 0;
  #closed = false;
  #characters = 0;

  constructor(runtimeId: string) {
    this.#runtimeId = runtimeId;
  }

  /** Adds an event and gives its id. */
  append(event: Unstamped<WorkcellEvent>, source: EventSource): number {
    this.#last++;
    this.#kept.push({
      ...event,
      id: this.#last,
      at: Date.now(),
      runtimeId: this.#runtimeId,
      source,
    } as WorkcellEvent);
    this.#characters += weight(event);
    // Cutting rarely and by many keeps the cost of each append constant.
    if (this.#kept.length >= 2 * keptEvents || this.#characters > keptCharacters) this.#cut();
    for (const wake of this.#wake) wake();
    return this.#last;
  }

  [Symbol.asyncIterator](): AsyncIterator<WorkcellEvent> {
    return this.since(0)[Symbol.asyncIterator]();
  }

  /** Every kept event after a cursor, then the new ones as they come, until the stream closes. */
  async *since(cursor: number): AsyncIterable<WorkcellEvent> {
    let position = cursor;
    while (true) {
      const first = this.#last - this.#kept.length + 1;
      const next = this.#kept[Math.max(0, position + 1 - first)];
      if (next !== undefined) {
        position = next.id;
        yield next;
      } else if (this.#closed) {
        return;
      } else {
        await new Promise<void>((resolve) => {
          const wake = () => {
            this.#wake.delete(wake);
            resolve();
          };
          this.#wake.add(wake);
        });
      }
    }
  }

  #cut(): void {
    let start = Math.max(0, this.#kept.length - keptEvents);
    let characters = this.#kept.slice(start).reduce((sum, event) => sum + weight(event), 0);
    for (; characters > keptCharacters / 2 && start < this.#kept.length - 1; start++) {
      characters -= weight(this.#kept[start] as WorkcellEvent);
    }
    this.#kept = this.#kept.slice(start);
    this.#characters = characters;
  }

  close(): void {
    this.#closed = true;
    for (const wake of this.#wake) wake();
  }
}

/** How much text an event carries, in the fields that can be long. */
function weight(event: Unstamped<WorkcellEvent>): number {
  const body = event.kind === 'action' ? event.action : event.kind === 'observation' ? event.observation : {};
  return Object.values(body).reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? value.length : 0),
    0,
  );
}
