import type { EventStore } from './event-store.js';

/**
 * Yields once at the beginning, then after each change for a runtime in a store, until the signal aborts. Changes
 * during a turn count as one.
 */
export async function* changes(
  store: EventStore,
  runtimeId: string,
  signal?: AbortSignal | undefined,
): AsyncIterable<void> {
  let changed = true;
  let wake = () => {};
  // Watch before the first turn, so that we miss nothing in between.
  const watch = await store.watch(runtimeId, () => {
    changed = true;
    wake();
  });
  const onAbort = () => wake();
  signal?.addEventListener('abort', onAbort);
  try {
    while (!signal?.aborted) {
      if (changed) {
        changed = false;
        yield;
      } else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
    watch.close();
  }
}
