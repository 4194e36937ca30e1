/** The audit record in a store of events: one chain for all runtimes that use the store. */

import { WorkcellError } from '../../../protocol/index.js';
import type { EventStore } from '../../events/event-store.js';
import { type AuditEntry, type AuditRecord, firstPrevious, seal } from './record.js';

/** Keeps the audit record in an event store. */
export interface AuditStoreOptions {
  /** `true`: where the events are; or the name of a store such as `sqlite:/var/lib/workcell/audit.db`. */
  readonly store: true | string;
}

interface StoreSource {
  acquire(): Promise<{ readonly store: EventStore; release(): void }>;
}

export interface AuditStore {
  append(entry: AuditEntry): Promise<AuditRecord>;
  close(): void;
}

/** `events` is the store with the events of the runtime. */
export async function openAuditStore(
  { store: named }: AuditStoreOptions,
  events: StoreSource | undefined,
): Promise<AuditStore> {
  const source = named === true ? events : await sourceOf(named);
  if (source === undefined)
    throw new WorkcellError(
      'invalid-config',
      'Workcell cannot keep the audit record in memory. Choose a store with events.store or audit.store, or a file with audit.file.',
      { details: { key: 'audit.store' } },
    );
  const { store, release } = await source.acquire();
  return {
    async append(entry) {
      let sealed: AuditRecord | undefined;
      await store.ledger.append(({ sequence, hash }) => {
        sealed = seal(entry, sequence + 1, sequence === 0 ? firstPrevious : hash);
        return { sequence: sealed.sequence, hash: sealed.hash, line: JSON.stringify(sealed) };
      });
      return sealed as AuditRecord;
    },
    close: release,
  };
}

async function sourceOf(name: string): Promise<StoreSource | undefined> {
  const { storeAccess } = await import('../../events/open.js');
  return storeAccess({ store: name });
}
