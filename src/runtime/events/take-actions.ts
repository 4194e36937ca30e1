/** Takes the actions that other processes leave in a store for a runtime of this process, each once, in order. */
import { z } from 'zod';
import type { ActionInput, EventSource } from '../../protocol/index.js';
import type { EventStore } from './event-store.js';
import { changes } from './store-changes.js';

/** The reply after a runtime has taken the action and before its event has an id. */
export const takenReply = '{"taken":true}';

/** Puts an action into the stream. Returns the id of its event. */
export type Take = (action: ActionInput, source: EventSource) => Promise<number>;

const bodySchema = z.object({
  action: z.looseObject({ action: z.string() }),
  source: z.enum(['agent', 'user', 'environment']),
});

/** Takes actions until the signal aborts. */
export async function takeActions(
  store: EventStore,
  runtimeId: string,
  take: Take,
  signal: AbortSignal,
): Promise<void> {
  for await (const _ of changes(store, runtimeId, signal)) {
    for (const message of await store.mailbox.list('action', runtimeId)) {
      if (signal.aborted) return;
      if (message.reply !== undefined || message.expiresAt <= Date.now()) continue;
      // The first reply decides: this runtime takes it, or its author withdraws it.
      if (!(await store.mailbox.reply(message.id, takenReply))) continue;
      // Its turn may come much later; take those behind it all the same.
      void takeOne(message.body, take)
        .then((reply) => store.mailbox.reply(message.id, JSON.stringify(reply), takenReply))
        .catch(() => {});
    }
  }
}

async function takeOne(body: string, take: Take): Promise<{ event: number } | { refused: string }> {
  try {
    const { action, source } = bodySchema.parse(JSON.parse(body));
    return { event: await take(action as ActionInput, source) };
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error) };
  }
}
