import type { WorkcellEvent } from '../../protocol/index.js';
import { matches } from './event-filter.js';
import type { EventFilter, EventStore } from './event-store.js';
import { changes } from './store-changes.js';

const pageEvents = 256;

/**
 * The events of a runtime that another process writes: those after a cursor, then new ones until the runtime stops or
 * the signal aborts.
 */
export async function* follow(
  store: EventStore,
  runtimeId: string,
  { cursor, signal, ...filter }: EventFilter & { cursor: number; signal?: AbortSignal | undefined },
): AsyncIterable<WorkcellEvent> {
  let position = cursor;
  for await (const _ of changes(store, runtimeId, signal)) {
    let page: readonly WorkcellEvent[];
    do {
      page = await store.read(runtimeId, { after: position, limit: pageEvents });
      for (const event of page) {
        position = event.id;
        if (matches(event, filter)) yield event;
        if (event.kind === 'status' && event.status.status === 'STOPPED') return;
      }
    } while (page.length > 0 && !signal?.aborted);
  }
}
