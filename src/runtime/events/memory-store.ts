/** Events in this process only, the newest within a number and a size. */
import type { WorkcellEvent } from '../../protocol/index.js';
import { matches } from './event-filter.js';
import type {
  EventStore,
  ListedRuntime,
  ReadQuery,
  Retention,
  RuntimesQuery,
  StoredRuntime,
  Watch,
} from './event-store.js';
import { MemoryLedger, MemoryMailbox } from './memory-mailbox.js';
import { Recent } from './recent.js';

/** Of each runtime. */
const bounds = { events: 1000, characters: 16 * 1024 * 1024 };

export class MemoryStore implements EventStore {
  readonly name = 'memory';
  readonly mailbox = new MemoryMailbox((id) => this.#wake(id));
  readonly ledger = new MemoryLedger();
  readonly #kept = new Map<string, Recent>();
  readonly #watchers = new Map<string, Set<() => void>>();

  append(events: readonly WorkcellEvent[]): void {
    const touched = new Set<string>();
    for (const event of events) {
      const kept = this.#of(event.runtimeId);
      kept.push(event);
      if (kept.exceeds(bounds)) kept.cut(bounds);
      touched.add(event.runtimeId);
    }
    for (const id of touched) this.#wake(id);
  }

  read(runtimeId: string, { after, before = Number.POSITIVE_INFINITY, limit, ...filter }: ReadQuery) {
    const kept = this.#kept.get(runtimeId);
    const found: WorkcellEvent[] = [];
    for (let index = kept?.indexAfter(after) ?? 0; found.length < limit; index++) {
      const event = kept?.events[index];
      if (event === undefined || event.id >= before) break;
      if (matches(event, filter)) found.push(event);
    }
    return found;
  }

  last(runtimeId: string): number {
    return this.#kept.get(runtimeId)?.events.at(-1)?.id ?? 0;
  }

  runtimes(): StoredRuntime[] {
    return [...this.#kept]
      .flatMap(([runtimeId, { events }]) => {
        const [first, last] = [events[0], events.at(-1)];
        if (first === undefined || last === undefined) return [];
        return [{ runtimeId, firstAt: first.at, lastAt: last.at, firstId: first.id, lastId: last.id }];
      })
      .sort((left, right) => right.firstAt - left.firstAt);
  }

  page({ limit, before, ids }: RuntimesQuery): ListedRuntime[] {
    const wanted = ids === undefined ? undefined : new Set(ids);
    const isBehind = ({ beganAt, runtimeId }: ListedRuntime) =>
      before === undefined || beganAt < before.at || (beganAt === before.at && runtimeId < before.id);
    return this.runtimes()
      .map((runtime) => ({ ...runtime, beganAt: runtime.firstAt }))
      .filter((runtime) => (wanted?.has(runtime.runtimeId) ?? true) && isBehind(runtime))
      .sort((left, right) => right.beganAt - left.beganAt || (right.runtimeId > left.runtimeId ? 1 : -1))
      .slice(0, limit);
  }

  compact({ olderThan = 0, maxBytes = Number.POSITIVE_INFINITY }: Retention): boolean {
    for (const kept of this.#kept.values()) {
      const young = kept.events.findIndex((event) => event.at >= olderThan);
      kept.drop(young === -1 ? kept.events.length : young);
    }
    const oldestFirst = [...this.#kept.values()].sort(
      (left, right) => (left.events[0]?.at ?? 0) - (right.events[0]?.at ?? 0),
    );
    let size = oldestFirst.reduce((sum, { characters }) => sum + characters, 0);
    for (const kept of oldestFirst) while (size > maxBytes && kept.events.length > 0) size -= kept.drop(1);
    for (const [id, { events }] of this.#kept) if (events.length === 0) this.#kept.delete(id);
    return false;
  }

  watch(runtimeId: string, onChange: () => void): Watch {
    const watchers = this.#watchers.get(runtimeId) ?? new Set();
    this.#watchers.set(runtimeId, watchers.add(onChange));
    return { close: () => void watchers.delete(onChange) };
  }

  close(): void {
    this.#kept.clear();
  }

  #wake(runtimeId: string): void {
    for (const wake of this.#watchers.get(runtimeId) ?? []) wake();
  }

  #of(runtimeId: string): Recent {
    const kept = this.#kept.get(runtimeId) ?? new Recent();
    this.#kept.set(runtimeId, kept);
    return kept;
  }
}
