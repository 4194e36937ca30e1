/** The bash events: what was asked for and what it printed, in order, kept in memory within bounds. */
import { randomBytes } from 'node:crypto';
import { Clock, formatTimestamp } from './timestamps.js';

export interface BashCommand {
  readonly kind: 'BashCommand';
  readonly id: string;
  readonly timestamp: string;
  readonly command: string;
  readonly cwd: string | null;
  readonly timeout: number;
}

export interface BashOutput {
  readonly kind: 'BashOutput';
  readonly id: string;
  readonly timestamp: string;
  readonly command_id: string;
  readonly order: number;
  /** Null while the command goes on. */
  readonly exit_code: number | null;
  readonly stdout: string | null;
  readonly stderr: string | null;
}

export type BashEvent = BashCommand | BashOutput;

/** An event with its place in the order. */
export interface Entry {
  readonly sequence: number;
  readonly microseconds: number;
  readonly event: BashEvent;
}

export interface EventBounds {
  readonly events: number;
  readonly characters: number;
  /** Of the outputs of one command, so that a talkative one does not push out the others. */
  readonly perCommand: { readonly events: number; readonly characters: number };
}

const defaultBounds: EventBounds = {
  events: 10_000,
  characters: 32 * 1024 * 1024,
  perCommand: { events: 2000, characters: 8 * 1024 * 1024 },
};

interface Outputs {
  sequences: number[];
  characters: number;
}

type Unstamped<Event> = Event extends BashEvent ? Omit<Event, 'id' | 'timestamp'> : never;

export class BashEvents {
  readonly #bounds: EventBounds;
  readonly #clock = new Clock();
  /** By sequence, so that iteration goes in order and each can be dropped alone. */
  readonly #entries = new Map<number, Entry>();
  readonly #sequences = new Map<string, number>();
  readonly #outputs = new Map<string, Outputs>();
  readonly #wakers = new Set<() => void>();
  #last = 0;
  #characters = 0;

  constructor(bounds: EventBounds = defaultBounds) {
    this.#bounds = bounds;
  }

  /** The sequence of the newest event. */
  get last(): number {
    return this.#last;
  }

  publish<Event extends BashEvent>(fields: Unstamped<Event>): Event {
    const microseconds = this.#clock.next();
    const stamp = { id: randomBytes(16).toString('hex'), timestamp: formatTimestamp(microseconds) };
    const event = { ...fields, ...stamp } as unknown as Event;
    const sequence = ++this.#last;
    this.#entries.set(sequence, { sequence, microseconds, event });
    this.#sequences.set(event.id, sequence);
    this.#characters += sizeOf(event);
    if (event.kind === 'BashOutput') this.#boundCommand(event, sequence);
    this.#boundAll();
    for (const wake of [...this.#wakers]) wake();
    return event;
  }

  get(id: string): BashEvent | undefined {
    const sequence = this.#sequences.get(id);
    return sequence === undefined ? undefined : this.#entries.get(sequence)?.event;
  }

  entries(): Iterable<Entry> {
    return this.#entries.values();
  }

  /** The first kept entry after a sequence. */
  after(sequence: number): Entry | undefined {
    const first = this.#entries.keys().next().value ?? this.#last + 1;
    for (let at = Math.max(sequence + 1, first); at <= this.#last; at++) {
      const entry = this.#entries.get(at);
      if (entry !== undefined) return entry;
    }
    return undefined;
  }

  outputsOf(commandId: string): BashOutput[] {
    const { sequences = [] } = this.#outputs.get(commandId) ?? {};
    return sequences
      .map((sequence) => this.#entries.get(sequence)?.event)
      .filter((event): event is BashOutput => event?.kind === 'BashOutput');
  }

  /** Resolves when something was published, or when the signal aborts. */
  change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#wakers.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#wakers.add(wake);
      signal.addEventListener('abort', wake, { once: true });
      if (signal.aborted) wake();
    });
  }

  /** Forgets all and tells how many there were. */
  clear(): number {
    const count = this.#entries.size;
    this.#entries.clear();
    this.#sequences.clear();
    this.#outputs.clear();
    this.#characters = 0;
    return count;
  }

  #boundCommand(event: BashOutput, sequence: number): void {
    const outputs = this.#outputs.get(event.command_id) ?? { sequences: [], characters: 0 };
    this.#outputs.set(event.command_id, outputs);
    outputs.sequences.push(sequence);
    outputs.characters += sizeOf(event);
    const { events, characters } = this.#bounds.perCommand;
    while (
      outputs.sequences.length > 1 &&
      (outputs.sequences.length > events || outputs.characters > characters)
    )
      this.#drop(outputs.sequences[0] as number);
  }

  #boundAll(): void {
    while (
      this.#entries.size > 1 &&
      (this.#entries.size > this.#bounds.events || this.#characters > this.#bounds.characters)
    )
      this.#drop(this.#entries.keys().next().value as number);
  }

  #drop(sequence: number): void {
    const event = this.#entries.get(sequence)?.event;
    if (event === undefined) return;
    this.#entries.delete(sequence);
    this.#sequences.delete(event.id);
    this.#characters -= sizeOf(event);
    if (event.kind === 'BashCommand') return;
    const outputs = this.#outputs.get(event.command_id);
    if (outputs === undefined) return;
    // The oldest of a command is always the one that goes.
    outputs.sequences.shift();
    outputs.characters -= sizeOf(event);
    if (outputs.sequences.length === 0) this.#outputs.delete(event.command_id);
  }
}

/** Roughly what an event takes, the fields around its text included. */
function sizeOf(event: BashEvent): number {
  const text =
    event.kind === 'BashCommand'
      ? event.command.length
      : (event.stdout?.length ?? 0) + (event.stderr?.length ?? 0);
  return text + 256;
}
