/** What running cells use, as pages ask for it: each cell at most every few seconds, a few of them at once. */
import type { Observation } from '../protocol/index.js';
import type { CellUse, OutputLine } from '../protocol/record-wire.js';

/** A running cell that this process works in, to look at. */
export interface WatchedCell {
  output(signal: AbortSignal): AsyncIterable<readonly OutputLine[]>;
  use(): Promise<Pick<Observation<'stats'>, 'cpuMs' | 'memoryBytes'>>;
}

const atOnce = 8;
const freshMs = 1500;
/** Looking at many cells costs more, so it happens less often. */
const perCellMs = 50;
/** A cell that pauses meanwhile says nothing. */
const answerMs = 2000;
/** A page does not wait for cells that are slow; it has their figures at its next look. */
const patienceMs = 200;
const forgottenMs = 60_000;

export class CellUses {
  readonly #live: (id: string) => WatchedCell | undefined;
  readonly #known = new Map<string, CellUse>();
  readonly #asking = new Set<string>();
  /** Those whose turn has not come, for all who read. */
  readonly #due = new Map<string, Turn>();
  #askers = 0;

  constructor(live: (id: string) => WatchedCell | undefined) {
    this.#live = live;
  }

  async read(ids: readonly string[]): Promise<ReadonlyMap<string, CellUse>> {
    const now = Date.now();
    for (const [id, { at }] of this.#known) if (now - at > forgottenMs) this.#known.delete(id);
    const oldest = now - Math.max(freshMs, ids.length * perCellMs);
    const due = ids.filter((id) => !this.#asking.has(id) && (this.#known.get(id)?.at ?? 0) < oldest);
    await within(patienceMs, Promise.all(due.map((id) => this.#turn(id))));
    return new Map(
      ids.flatMap((id) => {
        const known = this.#live(id) === undefined ? undefined : this.#known.get(id);
        return known === undefined ? [] : [[id, known] as const];
      }),
    );
  }

  /** Settles when somebody has asked the cell: once, however many wait for it. */
  #turn(id: string): Promise<void> {
    const waiting = this.#due.get(id);
    if (waiting !== undefined) return waiting.over;
    let end = () => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#due.set(id, { over, end });
    if (this.#askers < atOnce) void this.#askEach();
    return over;
  }

  async #askEach(): Promise<void> {
    this.#askers++;
    for (const [id, { end }] of this.#due) {
      this.#due.delete(id);
      await this.#ask(id);
      end();
    }
    this.#askers--;
  }

  async #ask(id: string): Promise<void> {
    const cell = this.#live(id);
    if (cell === undefined) return;
    this.#asking.add(id);
    const asked = Promise.resolve()
      .then(() => cell.use())
      .then(({ cpuMs, memoryBytes }) => void this.#known.set(id, { at: Date.now(), cpuMs, memoryBytes }))
      // A cell that is going away has no figures.
      .catch(() => void this.#known.delete(id))
      .finally(() => this.#asking.delete(id));
    await within(answerMs, asked);
  }
}

interface Turn {
  readonly over: Promise<void>;
  end(): void;
}

/** Settles with the work, or after a time. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
