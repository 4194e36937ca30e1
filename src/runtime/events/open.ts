/** Opens the store that a configuration names. */

import type { EventStore } from './event-store.js';
import { acquireStore, type SharedStore } from './shared-store.js';
import { defaultStore, placeOf, shownPlace } from './store-place.js';

export interface StoreOptions {
  /** `memory`, `sqlite:<file>` or `postgres://…`. Default: a file of this user. */
  readonly store?: string | undefined;
  /** `process` (default): events survive the end of this process; `machine`: also a power loss. SQLite only. */
  readonly durability?: 'process' | 'machine' | undefined;
  /** Removes events older than this. Default: 30. */
  readonly retentionDays?: number | undefined;
  /** While the store is larger, removes its oldest events. Default: 1 GiB. */
  readonly maxBytes?: number | undefined;
  /** Takes actions that other processes leave in the store: see `driveRuntime`. Default: false. */
  readonly drivable?: boolean | undefined;
}

const restMs = 3_600_000;

/** Access to a store that opens on first use. */
export interface StoreAccess {
  readonly name: string;
  /** Release it after use. */
  acquire(): Promise<SharedStore>;
}

/** Undefined for memory. Throws now for a name that cannot be a store. */
export function storeAccess(options: StoreOptions): StoreAccess | undefined {
  const name = options.store ?? defaultStore();
  if (name === 'memory') return undefined;
  const place = placeOf(name);
  const { durability = 'process', retentionDays = 30, maxBytes = 1024 ** 3 } = options;
  const retention = () => ({ olderThan: Date.now() - retentionDays * 86_400_000, maxBytes, restMs });
  const open = () => openStore(place, durability);
  return { name: shownPlace(place), acquire: () => acquireStore(`${durability} ${place}`, open, retention) };
}

/** Opens a store for reading what other processes write, and for looking back. */
export async function openEventStore(name: string = defaultStore()): Promise<EventStore> {
  if (name !== 'memory') return openStore(placeOf(name), 'process');
  const { MemoryStore } = await import('./memory-store.js');
  return new MemoryStore();
}

async function openStore(place: string, durability: 'process' | 'machine'): Promise<EventStore> {
  if (place.startsWith('sqlite:')) {
    const { openSqlite } = await import('./sqlite/sqlite-store.js');
    return openSqlite(place.slice('sqlite:'.length), durability);
  }
  const { openPostgres } = await import('./postgres/postgres-store.js');
  return openPostgres(place);
}
