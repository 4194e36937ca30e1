/**
 * Messages between processes that share a store: questions that wait for an answer, actions that wait for a runtime.
 */

export interface MailboxMessage {
  /** The sender chooses it, so that no other process can guess it. */
  readonly id: string;
  readonly runtimeId: string;
  readonly kind: 'confirmation' | 'action';
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** After this it counts for nothing, and the store can remove it. */
  readonly expiresAt: number;
  /** JSON. */
  readonly body: string;
  /** JSON; absent until there is a reply. */
  readonly reply?: string | undefined;
}

export interface Mailbox {
  put(message: MailboxMessage): void | Promise<void>;
  /** Those of a kind, of one runtime or of all, the oldest first. */
  list(
    kind: MailboxMessage['kind'],
    runtimeId?: string,
  ): readonly MailboxMessage[] | Promise<readonly MailboxMessage[]>;
  /** Replies where the reply so far is `instead`; false when it is another one, or the message no longer exists. */
  reply(id: string, reply: string, instead?: string): boolean | Promise<boolean>;
  remove(id: string): void | Promise<void>;
}

/** How long an expired message stays visible as such. */
export const keptAfterMs = 86_400_000;

/** A message in a table. Databases give whole numbers as numbers or as text. */
export interface MailboxRow {
  readonly id: string;
  readonly runtime: string;
  readonly kind: MailboxMessage['kind'];
  readonly at: number | string;
  readonly expires: number | string;
  readonly body: string;
  readonly reply: string | null;
}

export function fromMailboxRow({ id, runtime, kind, at, expires, body, reply }: MailboxRow): MailboxMessage {
  const message = { id, runtimeId: runtime, kind, at: Number(at), expiresAt: Number(expires), body };
  return reply === null ? message : { ...message, reply };
}
