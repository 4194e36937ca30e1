/**
 * Ends cells of the service whose time is over, and pauses or ends idle ones; also those that no request uses now.
 */
import type { CellRecord } from './service-store.js';

/** How long to wait after a cell failed to pause or end. */
const retryMs = 30_000;

/** The longest time of a timer; when it fires, the remaining time counts anew. */
const longestTimer = 2 ** 31 - 1;

interface Parts {
  readonly records: ReadonlyMap<string, CellRecord>;
  /** Requests are under way in it. */
  isUsed(id: string): boolean;
  usedAt(record: CellRecord): number;
  /** The longest time of its template, however often its client prolongs it. */
  lastAt(record: CellRecord): number | undefined;
  end(record: CellRecord, why: string): Promise<void>;
  pause(record: CellRecord): Promise<void>;
  onFailure(id: string, error: unknown): void;
}

export class CellTimes {
  readonly #parts: Parts;
  readonly #timers = new Map<string, NodeJS.Timeout>();
  /** Do nothing to a cell before this time: for a while after a failure, and never again while it ends. */
  readonly #notBefore = new Map<string, number>();
  #closed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  watchAll(): void {
    for (const id of this.#parts.records.keys()) this.watch(id);
  }

  /** Call it when a cell starts, wakes, or gets other limits. */
  watch(id: string): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    const record = this.#parts.records.get(id);
    const next = record === undefined ? Infinity : this.#next(record);
    if (this.#closed || next === Infinity) return;
    const timer = setTimeout(() => this.#look(id), Math.min(Math.max(1, next - Date.now()), longestTimer));
    timer.unref();
    this.#timers.set(id, timer);
  }

  forget(id: string): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    this.#notBefore.delete(id);
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }

  #next(record: CellRecord): number {
    const isOver = record.onExpiry === 'pause' && record.state === 'paused';
    const expiresAt = isOver ? undefined : record.expiresAt;
    const first = Math.min(expiresAt ?? Infinity, this.#endsAt(record), this.#idleAt(record));
    return Math.max(first, this.#notBefore.get(record.id) ?? 0);
  }

  /** When it is ended, used or not: also one that pauses as often as its time is over. */
  #endsAt(record: CellRecord): number {
    return (record.onExpiry === 'pause' ? this.#parts.lastAt(record) : record.expiresAt) ?? Infinity;
  }

  /** When its idle time is over; never for a cell that is paused already. */
  #idleAt(record: CellRecord): number {
    const { id, idleMs, state } = record;
    if (idleMs === undefined || state !== 'running') return Infinity;
    return (this.#parts.isUsed(id) ? Date.now() : this.#parts.usedAt(record)) + idleMs;
  }

  #look(id: string): void {
    const record = this.#parts.records.get(id);
    if (record === undefined) return;
    const now = Date.now();
    if (this.#next(record) > now) this.watch(id);
    else if (this.#endsAt(record) <= now) this.#act(id, () => this.#parts.end(record, 'expired'));
    else if ((record.expiresAt ?? Infinity) <= now) this.#act(id, () => this.#parts.pause(record));
    else if (record.onIdle === 'end') this.#act(id, () => this.#parts.end(record, 'was not used'));
    else this.#act(id, () => this.#parts.pause(record));
  }

  #act(id: string, work: () => Promise<void>): void {
    this.#notBefore.set(id, Infinity);
    const after = (at: number) => {
      if (!this.#parts.records.has(id)) return;
      this.#notBefore.set(id, at);
      this.watch(id);
    };
    work().then(
      () => after(0),
      (error: unknown) => {
        this.#parts.onFailure(id, error);
        after(Date.now() + retryMs);
      },
    );
  }
}
