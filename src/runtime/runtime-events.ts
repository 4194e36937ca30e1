/** The events of a runtime as its owner sees them: to read, and to drive the runtime by. */

import type { ActionInput, EventSource, WorkcellEvent } from '../protocol/index.js';
import type { OutputLine } from '../protocol/record-wire.js';
import type { EventFilter } from './events/event-store.js';
import type { EventStream } from './events/stream.js';
import type { Origin } from './pipeline.js';

type Perform = (action: ActionInput, origin: Origin) => Promise<unknown>;

export class RuntimeEvents implements AsyncIterable<WorkcellEvent> {
  readonly #stream: EventStream;
  readonly #perform: Perform;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(stream: EventStream, perform: Perform) {
    this.#stream = stream;
    this.#perform = perform;
  }

  /** The name of the store, such as `sqlite:/home/me/.local/state/workcell/events.db`, or `memory`. */
  get store(): string {
    return this.#stream.store;
  }

  [Symbol.asyncIterator](): AsyncIterator<WorkcellEvent> {
    return this.#stream[Symbol.asyncIterator]();
  }

  /** Every kept event after a cursor that passes the filter, then new ones as they come, until the runtime closes. */
  since(cursor: number, filter: EventFilter = {}): AsyncIterable<WorkcellEvent> {
    return this.#stream.since(cursor, filter);
  }

  /** Calls it with each event from now on, as it comes. Returns the function that stops this. */
  listen(listener: (event: WorkcellEvent) => void): () => void {
    return this.#stream.listen(listener);
  }

  /**
   * What actions under way print, as it comes and masked, until the signal aborts or the runtime closes. It has those
   * that begin from now on, and those whose caller listens. A slow reader misses some; the observation has the output.
   */
  output(signal: AbortSignal): AsyncIterable<readonly OutputLine[]> {
    return this.#stream.output.watch(signal);
  }

  /**
   * Adds an action that the runtime runs after earlier ones, and returns the id of its event; its observation or error
   * carries that id as `cause`.
   */
  add(action: ActionInput, source: EventSource = 'agent'): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#turn = this.#turn.then(() =>
        this.#perform(action, { source, marked: true, onRecorded: resolve }).catch(reject),
      );
    });
  }
}
