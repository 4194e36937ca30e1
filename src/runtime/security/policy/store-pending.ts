/** Questions that wait for an answer, in the store of the events: any process that opens it finds and answers them. */

import { WorkcellError } from '../../../protocol/index.js';
import type { EventStore } from '../../events/event-store.js';
import { openEventStore } from '../../events/open.js';
import { changes } from '../../events/store-changes.js';
import type { JudgedAction } from '../analyzers/analyzer.js';
import { digestOf } from './ask-confirmation.js';
import { type PendingRequest, type PendingStore, pendingSchema } from './pending.js';
import type { AnswerScope } from './types.js';

/** Access to the store; release it after use. */
export interface StoreSource {
  acquire(): Promise<{ readonly store: EventStore; release(): void }>;
}

export interface StorePendingOptions {
  readonly source: StoreSource;
  readonly runtimeId: string;
  /** Continues without an unusable store, because there is another way to ask, too. */
  readonly optional?: boolean | undefined;
  /** Removes secrets from the displayed action. */
  readonly mask?: ((action: JudgedAction) => JudgedAction) | undefined;
}

export function storePending({ source, runtimeId, mask, optional }: StorePendingOptions): PendingStore {
  const within = async <Result>(work: (store: EventStore) => Result | Promise<Result>): Promise<Result> => {
    const { store, release } = await source.acquire();
    try {
      return await work(store);
    } finally {
      release();
    }
  };
  const using = async <Result>(
    work: (store: EventStore) => Result | Promise<Result>,
    otherwise: () => Result | Promise<Result>,
  ): Promise<Result> => {
    try {
      return await within(work);
    } catch (error) {
      if (!optional) throw error;
      return otherwise();
    }
  };
  return {
    put: (request) =>
      using((store) => {
        const action = mask?.(request.action) ?? request.action;
        const masked = request.masked === true || digestOf(action) !== digestOf(request.action);
        return store.mailbox.put({
          id: request.id,
          runtimeId,
          kind: 'confirmation',
          at: request.askedAt,
          expiresAt: request.expiresAt,
          body: JSON.stringify({ ...request, action, ...(masked ? { masked } : {}) }),
        });
      }, nothing),
    list: () => using(listPending, () => []),
    remove: (id) => using((store) => store.mailbox.remove(id), nothing),
    answer: (id, answer, who, scope, word) =>
      within((store) => answerPending(store, id, { answer, who, scope, word })),
    answered: (id, signal) => within((store) => waitForAnswer(store, id, signal)),
  };
}

function nothing(): void {}

/** The questions of all runtimes in a store, for the person who answers them. */
export interface Confirmations extends AsyncDisposable {
  /** Those that still wait, the oldest first. */
  list(): Promise<PendingRequest[]>;
  /** Throws `not-found` for a question that has an answer, is over its time, or never existed. */
  answer(
    id: string,
    answer: 'approve' | 'deny',
    who?: string,
    scope?: AnswerScope,
    word?: string,
  ): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the questions in a store. Default: this user's store. Only for the trusted side: an answer counts as a
 * person's.
 */
export async function openConfirmations(name?: string): Promise<Confirmations> {
  const store = await openEventStore(name);
  const close = async () => store.close();
  return {
    list: async () => (await listPending(store)).filter(isOpen),
    answer: (id, answer, who, scope, word) => answerPending(store, id, { answer, who, scope, word }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function isOpen({ answer, expiresAt }: PendingRequest): boolean {
  return answer === undefined && expiresAt > Date.now();
}

async function listPending(store: EventStore): Promise<PendingRequest[]> {
  const messages = await store.mailbox.list('confirmation');
  return messages.flatMap(({ body, reply }) => {
    const parsed = pendingSchema.safeParse({
      ...(JSON.parse(body) as object),
      ...(reply === undefined ? {} : { answer: JSON.parse(reply) as unknown }),
    });
    return parsed.success ? [parsed.data as PendingRequest] : [];
  });
}

async function answerPending(
  store: EventStore,
  id: string,
  answer: NonNullable<PendingRequest['answer']>,
): Promise<void> {
  const waiting = (await listPending(store)).find((request) => request.id === id);
  const open = waiting !== undefined && isOpen(waiting);
  if (!open || !(await store.mailbox.reply(id, JSON.stringify(answer))))
    throw new WorkcellError(
      'not-found',
      `There is no open confirmation ${JSON.stringify(id)}; it was answered, or its time is over and it counts as denied.`,
      { details: { id } },
    );
}

async function waitForAnswer(
  store: EventStore,
  id: string,
  signal: AbortSignal,
): Promise<NonNullable<PendingRequest['answer']>> {
  const [message] = (await store.mailbox.list('confirmation')).filter((found) => found.id === id);
  for await (const _ of changes(store, message?.runtimeId ?? '', signal)) {
    const answer = (await listPending(store)).find((request) => request.id === id)?.answer;
    if (answer !== undefined) return answer;
  }
  throw new Error('nobody answered');
}
