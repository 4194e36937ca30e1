/** Notes and the ledger of a store that lives in this process only. */
import { type Ledger, type LedgerHead, type LedgerLine, type Note, type Notes, noLine } from './notes.js';

export class MemoryNotes implements Notes {
  readonly #notes = new Map<string, Note>();
  readonly #changed: (runtimeId: string) => void;

  constructor(changed: (runtimeId: string) => void) {
    this.#changed = changed;
  }

  put(note: Note): void {
    this.#notes.set(note.id, note);
    this.#changed(note.runtimeId);
  }

  list(kind: Note['kind'], runtimeId?: string): Note[] {
    return [...this.#notes.values()].filter(
      (note) => note.kind === kind && (runtimeId === undefined || note.runtimeId === runtimeId),
    );
  }

  reply(id: string, reply: string, instead?: string): boolean {
    const note = this.#notes.get(id);
    if (note === undefined || note.reply !== instead) return false;
    this.#notes.set(id, { ...note, reply });
    this.#changed(note.runtimeId);
    return true;
  }

  remove(id: string): void {
    this.#notes.delete(id);
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
