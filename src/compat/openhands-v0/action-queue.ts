/** Runs one action at a time, and none twice when a client lost its connection and asks again. */

/** A client that asks again does so within this time. */
const repeatMs = 60_000;

interface Abandoned {
  readonly fingerprint: string;
  readonly outcome: Promise<unknown>;
  readonly at: number;
}

export class ActionQueue {
  #last: Promise<unknown> = Promise.resolve();
  #abandoned: Abandoned | undefined;

  /**
   * Runs the work when all earlier work has ended. If the client repeats a request because it lost the connection
   * before the answer, it gets the outcome of the first.
   */
  take<T>(fingerprint: string, connection: Connection, work: () => Promise<T>): Promise<T> {
    const outcome = this.#adopt<T>(fingerprint) ?? this.#queue(work);
    connection.onLost(() => {
      this.#abandoned = { fingerprint, outcome, at: performance.now() };
    });
    return outcome;
  }

  #queue<T>(work: () => Promise<T>): Promise<T> {
    const outcome = this.#last.then(work);
    this.#last = outcome.catch(() => {});
    return outcome;
  }

  #adopt<T>(fingerprint: string): Promise<T> | undefined {
    const abandoned = this.#abandoned;
    this.#abandoned = undefined;
    if (abandoned === undefined || abandoned.fingerprint !== fingerprint) return undefined;
    return performance.now() - abandoned.at < repeatMs ? (abandoned.outcome as Promise<T>) : undefined;
  }
}

export interface Connection {
  /** Called when the client leaves before it has its answer. */
  onLost(listener: () => void): void;
}
