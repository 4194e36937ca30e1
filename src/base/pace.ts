import { WorkcellError } from '../protocol/index.js';

const turnMs = 8;

/** How long a walk through directories may take: a cell can make them faster than we walk them. */
export const walkMs = 30_000;

/** Keeps a long loop of short system calls from blocking the rest of the program, and lets a caller cancel it. */
export class Pace {
  readonly #signal: AbortSignal | undefined;
  readonly #endsAt: number;
  #turnStartedAt = performance.now();

  /** After `limitMs` it is over; the caller checks that. */
  constructor(signal: AbortSignal | undefined, limitMs = Number.POSITIVE_INFINITY) {
    this.#signal = signal;
    this.#endsAt = performance.now() + limitMs;
  }

  get isOver(): boolean {
    return this.#turnStartedAt > this.#endsAt;
  }

  /** Whether others should get their turn. */
  get isDue(): boolean {
    return performance.now() - this.#turnStartedAt >= turnMs;
  }

  /** Call between two steps of the loop; others get their turn every few milliseconds. */
  async step(): Promise<void> {
    if (!this.isDue) return;
    await new Promise((resolve) => setImmediate(resolve));
    checkCancelled(this.#signal);
    this.#turnStartedAt = performance.now();
  }
}

/** A computation that yields between short steps, so that its caller decides whether others have their turn there. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** For what is known to be short. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

export async function inTurns<Result>(steps: Steps<Result>, pace = new Pace(undefined)): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (pace.isDue) await pace.step();
  }
}

/** Passes on the same pieces. Its reader leaves others their turn, even when all pieces have already arrived. */
export async function* paced<Piece>(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece> {
  const pace = new Pace(undefined);
  for await (const piece of pieces) {
    yield piece;
    await pace.step();
  }
}

/** Ends an operation that the caller no longer wants. */
export function checkCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted)
    throw new WorkcellError('cancelled', 'The file operation was cancelled by the caller.');
}
