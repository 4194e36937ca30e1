/** Drives a runtime that lives in another process, through the store that both use. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import {
  type ActionInput,
  type EventSource,
  WorkcellError,
  type WorkcellEvent,
} from '../../protocol/index.js';
import type { EventFilter, EventStore } from './event-store.js';
import { follow } from './follow-events.js';
import { openEventStore } from './open.js';
import { takenReply } from './take-actions.js';

/** Which store to use, and how long to wait for the runtime. */
export interface DriveOptions {
  /** Where both keep events. Default: the file of this user. */
  readonly store?: string | undefined;
  /** How long an action waits for the runtime to take it. Default: 30 seconds. */
  readonly takenWithinMs?: number | undefined;
}

/** Adds actions to a runtime in another process, and reads its events. */
export interface RuntimeDriver extends AsyncDisposable {
  readonly runtimeId: string;
  /**
   * Adds an action for the runtime to carry out. Returns the id of its event; its observation or error carries that
   * id as `cause`. Throws `timed-out` when the runtime does not take it in time; then it never will.
   */
  add(action: ActionInput, source?: EventSource): Promise<number>;
  /** Every kept event after a cursor that passes the filter, then new ones, until the runtime stops. */
  since(
    cursor: number,
    filter?: EventFilter & { signal?: AbortSignal | undefined },
  ): AsyncIterable<WorkcellEvent>;
  close(): Promise<void>;
}

/** The runtime must have `events: { drivable: true }` and the same store. */
export async function driveRuntime(runtimeId: string, options: DriveOptions = {}): Promise<RuntimeDriver> {
  const { takenWithinMs = 30_000 } = options;
  const store = await openEventStore(options.store);
  const close = async () => store.close();
  return {
    runtimeId,
    add: (action, source = 'agent') => leave(store, runtimeId, { action, source }, takenWithinMs),
    since: (cursor, filter = {}) => follow(store, runtimeId, { cursor, ...filter }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

const replySchema = z.union([z.object({ event: z.int().positive() }), z.object({ refused: z.string() })]);

async function leave(
  store: EventStore,
  runtimeId: string,
  body: { action: ActionInput; source: EventSource },
  takenWithinMs: number,
): Promise<number> {
  const id = randomBytes(8).toString('hex');
  const at = Date.now();
  const expiresAt = at + takenWithinMs;
  let wake = () => {};
  let late = false;
  const watch = await store.watch(runtimeId, () => wake());
  const timer = setTimeout(() => {
    late = true;
    wake();
  }, takenWithinMs);
  try {
    let change = new Promise<void>((resolve) => (wake = resolve));
    await store.mailbox.put({ id, runtimeId, kind: 'action', at, expiresAt, body: JSON.stringify(body) });
    for (;;) {
      const message = (await store.mailbox.list('action', runtimeId)).find((found) => found.id === id);
      if (message?.reply !== undefined && message.reply !== takenReply) return eventOf(message.reply);
      // The answer to a taken action comes soon. Withdraw an action that no runtime took, so that none takes it
      // later.
      if (
        late &&
        (message?.reply === undefined ? await store.mailbox.reply(id, '{"refused":"withdrawn"}') : false)
      )
        throw new WorkcellError(
          'timed-out',
          `Runtime ${runtimeId} did not take the action within ${takenWithinMs} ms. Is it running with events.drivable, on ${store.name}?`,
          { details: { runtimeId, takenWithinMs } },
        );
      await change;
      change = new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    clearTimeout(timer);
    watch.close();
    await store.mailbox.remove(id);
  }
}

function eventOf(reply: string): number {
  const parsed = replySchema.parse(JSON.parse(reply));
  if ('event' in parsed) return parsed.event;
  throw new WorkcellError('invalid-action', `The runtime refused the action: ${parsed.refused}`, {
    details: { reason: parsed.refused },
  });
}
