import type { WorkcellEvent } from '../protocol/index.js';
import { matches } from './filter.js';
import type { EventFilter, EventStore } from './store.js';

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
  let changed = true;
  let wake = () => {};
  // Watched before the first read, so that nothing comes between.
  const watch = await store.watch(runtimeId, () => {
    changed = true;
    wake();
  });
  const onAbort = () => wake();
  signal?.addEventListener('abort', onAbort);
  try {
    let position = cursor;
    while (!signal?.aborted) {
      changed = false;
      const page = await store.read(runtimeId, { after: position, limit: pageEvents });
      for (const event of page) {
        position = event.id;
        if (matches(event, filter)) yield event;
        if (event.kind === 'status' && event.status.status === 'STOPPED') return;
      }
      if (page.length === 0 && !changed && !signal?.aborted)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
    watch.close();
  }
}
