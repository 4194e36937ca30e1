/** The mailbox and the ledger of a store that lives in this process only. */
import { type Ledger, type LedgerHead, type LedgerLine, noLine } from './ledger.js';
import type { Mailbox, MailboxMessage } from './mailbox.js';

export class MemoryMailbox implements Mailbox {
  readonly #messages = new Map<string, MailboxMessage>();
  readonly #changed: (runtimeId: string) => void;

  constructor(changed: (runtimeId: string) => void) {
    this.#changed = changed;
  }

  put(message: MailboxMessage): void {
    this.#messages.set(message.id, message);
    this.#changed(message.runtimeId);
  }

  list(kind: MailboxMessage['kind'], runtimeId?: string): MailboxMessage[] {
    return [...this.#messages.values()].filter(
      (message) => message.kind === kind && (runtimeId === undefined || message.runtimeId === runtimeId),
    );
  }

  reply(id: string, reply: string, instead?: string): boolean {
    const message = this.#messages.get(id);
    if (message === undefined || message.reply !== instead) return false;
    this.#messages.set(id, { ...message, reply });
    this.#changed(message.runtimeId);
    return true;
  }

  remove(id: string): void {
    this.#messages.delete(id);
  }
}

export class MemoryLedger implements Ledger {
  readonly #lines: LedgerLine[] = [];

  append(make: (last: LedgerHead) => LedgerLine): void {
    this.#lines.push(make(this.head()));
  }

  read(after: number, limit: number): LedgerLine[] {
    return this.#lines.filter(({ sequence }) => sequence > after).slice(0, limit);
  }

  head(): LedgerHead {
    const last = this.#lines.at(-1);
    return last === undefined ? noLine : { sequence: last.sequence, hash: last.hash };
  }
}
