/** The bash events: commands and their output, in order, within bounds. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { removeTree } from '../../../base/remove-tree.js';
import { makeScratch } from '../../../cell/launchers/scratch.js';
import { KeptText } from './kept-text.js';
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
  /** Null while the command runs. */
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
  readonly kept: KeptEvent;
}

interface KeptEvent {
  /** Of its text. */
  readonly bytes: number;
  /** Called when we no longer keep the event. */
  drop(): void;
}

export interface EventBounds {
  readonly events: number;
  readonly bytes: number;
  /** Limits for the outputs of one command, so that a talkative one does not push out the others. */
  readonly perCommand: { readonly events: number; readonly bytes: number };
}

const defaultBounds: EventBounds = {
  events: 10_000,
  bytes: 32 * 1024 * 1024,
  perCommand: { events: 2000, bytes: 8 * 1024 * 1024 },
};

/** More than an event and what waits for the next one. */
const largestPiece = 1024 * 1024;

interface Outputs {
  sequences: number[];
  bytes: number;
}

type Unstamped<Event> = Event extends BashEvent ? Omit<Event, 'id' | 'timestamp'> : never;

export class BashEvents {
  readonly #bounds: EventBounds;
  readonly #clock = new Clock();
  /** By sequence, so that iteration goes in order and we can drop each alone. */
  readonly #entries = new Map<number, Entry>();
  readonly #sequences = new Map<string, number>();
  readonly #outputs = new Map<string, Outputs>();
  readonly #wakers = new Set<() => void>();
  #last = 0;
  #bytes = 0;
  #directory: string | undefined;
  #files = 0;

  constructor(bounds: EventBounds = defaultBounds) {
    this.#bounds = bounds;
  }

  /** A store for a command's output; it keeps more than the limit, so that it lasts as long as the events do. */
  text(): KeptText {
    const nextFile = () => {
      this.#directory ??= makeScratch('bash-events');
      return join(this.#directory, `text-${this.#files++}`);
    };
    return new KeptText(nextFile, this.#bounds.perCommand.bytes + largestPiece);
  }

  /** The sequence of the newest event. */
  get last(): number {
    return this.#last;
  }

  /** `fields` become the event itself, so that text which they read only when asked stays where it is. */
  publish<Event extends BashEvent>(fields: Unstamped<Event>, kept: KeptEvent): Event {
    const microseconds = this.#clock.next();
    const stamp = { id: randomBytes(16).toString('hex'), timestamp: formatTimestamp(microseconds) };
    const event = Object.assign(fields, stamp) as unknown as Event;
    const sequence = ++this.#last;
    const entry = { sequence, microseconds, event, kept };
    this.#entries.set(sequence, entry);
    this.#sequences.set(event.id, sequence);
    this.#bytes += sizeOf(entry);
    if (event.kind === 'BashOutput') this.#boundCommand(event, entry);
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

  /** Resolves at the next event, or when the signal aborts. */
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

  /** Forgets all events and removes their store. */
  close(): void {
    this.clear();
    if (this.#directory !== undefined) removeTree(this.#directory);
  }

  /** Forgets all and returns how many there were. */
  clear(): number {
    const count = this.#entries.size;
    for (const { kept } of this.#entries.values()) kept.drop();
    this.#entries.clear();
    this.#sequences.clear();
    this.#outputs.clear();
    this.#bytes = 0;
    return count;
  }

  #boundCommand(event: BashOutput, entry: Entry): void {
    const outputs = this.#outputs.get(event.command_id) ?? { sequences: [], bytes: 0 };
    this.#outputs.set(event.command_id, outputs);
    outputs.sequences.push(entry.sequence);
    outputs.bytes += sizeOf(entry);
    const { events, bytes } = this.#bounds.perCommand;
    while (outputs.sequences.length > 1 && (outputs.sequences.length > events || outputs.bytes > bytes))
      this.#drop(outputs.sequences[0] as number);
  }

  #boundAll(): void {
    while (
      this.#entries.size > 1 &&
      (this.#entries.size > this.#bounds.events || this.#bytes > this.#bounds.bytes)
    )
      this.#drop(this.#entries.keys().next().value as number);
  }

  #drop(sequence: number): void {
    const entry = this.#entries.get(sequence);
    if (entry === undefined) return;
    const { event } = entry;
    entry.kept.drop();
    this.#entries.delete(sequence);
    this.#sequences.delete(event.id);
    this.#bytes -= sizeOf(entry);
    if (event.kind === 'BashCommand') return;
    const outputs = this.#outputs.get(event.command_id);
    if (outputs === undefined) return;
    // We always drop the oldest of a command first.
    outputs.sequences.shift();
    outputs.bytes -= sizeOf(entry);
    if (outputs.sequences.length === 0) this.#outputs.delete(event.command_id);
  }
}

/** Roughly what an event takes, the fields around its text included. */
function sizeOf({ kept }: Entry): number {
  return kept.bytes + 256;
}
