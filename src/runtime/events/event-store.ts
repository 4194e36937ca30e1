/** The seam between the stream and its storage. */
import type { EventSource, WorkcellEvent } from '../../protocol/index.js';
import type { Ledger } from './ledger.js';
import type { Mailbox } from './mailbox.js';

/** Keeps the events of many runtimes. Appends of one runtime come in the order of their ids. */
export interface EventStore {
  /** Where it is, as configured, without a password. */
  readonly name: string;
  /** Keeps all of them or none. When it returns or resolves they survive the end of this process. */
  append(events: readonly WorkcellEvent[]): void | Promise<void>;
  /** True when `append` has kept them once it returns. */
  readonly immediate?: boolean | undefined;
  /** Events of one runtime in order; fewer than `limit` means that there are no more yet. */
  read(runtimeId: string, query: ReadQuery): readonly WorkcellEvent[] | Promise<readonly WorkcellEvent[]>;
  /** The id of the last event of a runtime; 0 when there is none. */
  last(runtimeId: string): number | Promise<number>;
  /** Every runtime that has events, the most recent first. */
  runtimes(): readonly StoredRuntime[] | Promise<readonly StoredRuntime[]>;
  /** Some of them, those that began last first. Never takes longer because there are more. */
  page(query: RuntimesQuery): readonly ListedRuntime[] | Promise<readonly ListedRuntime[]>;
  /** Removes events beyond the wanted age or number, a little at a time. True when there is more to remove. */
  compact(retention: Retention): boolean | Promise<boolean>;
  /** Calls back when there may be new events, from whichever process. */
  watch(runtimeId: string, onChange: () => void): Watch | Promise<Watch>;
  /** What processes leave for each other. */
  readonly mailbox: Mailbox;
  /** The audit record. */
  readonly ledger: Ledger;
  close(): void | Promise<void>;
}

export interface ReadQuery extends EventFilter {
  /** Only events after this id. */
  readonly after: number;
  /** Only events before this id. */
  readonly before?: number | undefined;
  readonly limit: number;
  /** Cuts a long text to about this many characters. A store that holds texts apart then reads no more of it. */
  readonly cutTexts?: number | undefined;
  /** Ends after about this many characters of JSON, with fewer events than `limit` although there are more. */
  readonly maxSize?: number | undefined;
}

/** An event passes when it matches every given field. */
export interface EventFilter {
  readonly kinds?: readonly WorkcellEvent['kind'][] | undefined;
  readonly sources?: readonly EventSource[] | undefined;
  /** Milliseconds since the epoch; includes `from`, excludes `until`. */
  readonly from?: number | undefined;
  readonly until?: number | undefined;
  /** Text somewhere in the event's content, literally. */
  readonly text?: string | undefined;
}

/** A runtime whose events a store has. */
export interface StoredRuntime {
  readonly runtimeId: string;
  readonly firstAt: number;
  readonly lastAt: number;
  /** Ids of the oldest and the newest event in the store. */
  readonly firstId: number;
  readonly lastId: number;
}

export interface ListedRuntime extends StoredRuntime {
  /** When it began, also if its first events are gone. */
  readonly beganAt: number;
}

/** All given fields hold. */
export interface RuntimesQuery {
  readonly limit: number;
  /** Only those that come behind this one. */
  readonly before?: { readonly at: number; readonly id: string } | undefined;
  /** Only these. */
  readonly ids?: readonly string[] | undefined;
}

export interface Retention {
  /** Removes events older than this, in milliseconds since the epoch. */
  readonly olderThan?: number | undefined;
  /** Removes the oldest events while the store is larger. */
  readonly maxBytes?: number | undefined;
  /** Checks ages only when no process has done so for this time. */
  readonly restMs?: number | undefined;
}

export interface Watch {
  close(): void;
}
