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
  /** Every runtime that has events, the one that began last first. */
  runtimes(): readonly StoredRuntime[] | Promise<readonly StoredRuntime[]>;
  /** Removes what is older or more than wanted, a little at a time. True when there is more to remove. */
  compact(retention: Retention): boolean | Promise<boolean>;
  /** Calls back when events may have come, from whichever process. */
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
}

/** An event passes when it matches everything that is named. */
export interface EventFilter {
  readonly kinds?: readonly WorkcellEvent['kind'][] | undefined;
  readonly sources?: readonly EventSource[] | undefined;
  /** Milliseconds since the epoch; includes `from`, excludes `until`. */
  readonly from?: number | undefined;
  readonly until?: number | undefined;
  /** Somewhere in what the event carries, as written. */
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

export interface Retention {
  /** Removes events older than this, in milliseconds since the epoch. */
  readonly olderThan?: number | undefined;
  /** While the store is larger, the oldest events go. */
  readonly maxBytes?: number | undefined;
  /** Checks ages only when nobody has done so for this time. */
  readonly restMs?: number | undefined;
}

export interface Watch {
  close(): void;
}
