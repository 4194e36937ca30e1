/** What the service must not forget: its cells, its keys, and the requests that it has answered. */
import type { CellRef } from '../backends/backend.js';
import type { KeyRole, ServiceCell } from '../protocol/service-wire.js';
import type { UsagePiece, UsageRow } from './cell-usage.js';
import type { Declared } from './templates.js';

export interface CellRecord {
  readonly id: string;
  readonly tenant: string;
  readonly name?: string | undefined;
  readonly template: string;
  readonly state: ServiceCell['state'];
  readonly labels: Readonly<Record<string, string>>;
  /** Times are milliseconds since 1970. */
  readonly createdAt: number;
  readonly usedAt: number;
  /** When it last started or resumed. */
  readonly runningSince?: number | undefined;
  readonly expiresAt?: number | undefined;
  readonly idleMs?: number | undefined;
  readonly onIdle: ServiceCell['onIdle'];
  /** Known before the cell starts, so that we find a cell whose start was interrupted. */
  readonly ref: CellRef;
  /** What its template declared when it was made. */
  readonly declared?: Declared | undefined;
  readonly workspace?: string | undefined;
  readonly isolation?: ServiceCell['isolation'];
  /** What to do with it at `expiresAt`. Default: end it. */
  readonly onExpiry?: 'pause' | undefined;
  /** What another system's protocol keeps with the cells that it created. */
  readonly facade?: Readonly<Record<string, unknown>> | undefined;
}

/** A checkpoint that outlives its cell. */
export interface CheckpointRecord {
  readonly id: string;
  readonly tenant: string;
  /** Whose files they were. */
  readonly cell: string;
  readonly label?: string | undefined;
  readonly parent?: string | undefined;
  readonly createdAt: number;
  readonly files: number;
  readonly bytes: number;
  /** What a protocol of another system keeps with it. */
  readonly facade?: Readonly<Record<string, unknown>> | undefined;
}

export interface KeyRecord {
  readonly id: string;
  readonly tenant: string;
  readonly role: KeyRole;
  readonly cell?: string | undefined;
  readonly createdAt: number;
  readonly expiresAt?: number | undefined;
  readonly note?: string | undefined;
}

/** An answered request, for one that comes again with the same key. */
export interface AnsweredRequest {
  readonly fingerprint: string;
  readonly cell: string;
}

/** A cell, and when it was made. */
export interface MadeAt {
  readonly id: string;
  readonly at: number;
}

/** Those that come behind one, at most so many. */
export interface Page {
  readonly limit: number;
  readonly before?: MadeAt | undefined;
}

/** A store in this process answers at once, one behind a connection later. */
export type Awaitable<Result> = Result | Promise<Result>;

/** Every method throws `store-unavailable` when the store cannot do it now; then it has done all of it, or nothing. */
export interface ServiceStore {
  /** `request`: the request for it; `usage`: what its tenant used. The store keeps all of it, or nothing. */
  putCell(
    record: CellRecord,
    request?: { readonly key: string; readonly fingerprint: string },
    usage?: readonly UsagePiece[],
  ): Awaitable<void>;
  /** The keys of its actions go when they are old: there may be millions, and no cell gets this id again. */
  removeCell(cell: Pick<CellRecord, 'id' | 'tenant'>, usage?: readonly UsagePiece[]): Awaitable<void>;
  /** Like `removeCell`, and keeps whose cell it was. */
  endCell(record: CellRecord, usage: readonly UsagePiece[]): Awaitable<void>;
  /** Whose cell it was, if it ended. */
  endedOf(id: string): Awaitable<string | undefined>;
  /** Ended cells of a tenant, those that were made last first. */
  ended(tenant: string, page: Page): Awaitable<MadeAt[]>;
  /** From one day to another, including both. */
  usage(from: string, to: string): Awaitable<UsageRow[]>;
  cells(): Awaitable<CellRecord[]>;
  checkpoints(): Awaitable<CheckpointRecord[]>;
  putCheckpoint(record: CheckpointRecord): Awaitable<void>;
  removeCheckpoint(id: string): Awaitable<void>;
  putKey(record: KeyRecord, hash: string): Awaitable<void>;
  removeKey(id: string): Awaitable<void>;
  keys(): Awaitable<{ readonly record: KeyRecord; readonly hash: string }[]>;
  request(tenant: string, key: string): Awaitable<AnsweredRequest | undefined>;
  /** Notes that an action begins. False when one with this key began in that cell before, in this process or an earlier one. */
  beginAction(cell: string, key: string): Awaitable<boolean>;
  /** The secret that the service signs with: created once, and kept as long as the store. */
  secret(): Awaitable<string>;
  /** Whether it can be read now. */
  answers(): Awaitable<boolean>;
  /** Fails where another process may write in the place of this one, so that its cells are no longer ours. */
  checkHeld(): Awaitable<void>;
  close(): Awaitable<void>;
}

/** How long a client can repeat a request. */
export const requestsKeptMs = 86_400_000;

/** The same for an action; there are many more of them. */
export const actionsKeptMs = 3_600_000;

/**
 * How many actions begin between two removals of old ones, and how many one removal takes at most: more than come, so
 * that their number falls, and so few that nobody waits for it.
 */
export const actionsBetween = 100;
export const actionsRemoved = 200;

/** How long an admin reads the record of a cell that ended, and how many the next end forgets at most. */
export const endedKeptMs = 366 * 86_400_000;
export const endedRemoved = 20;
