/** What processes leave for each other in a store: questions that wait for an answer, actions that wait to be taken. */

export interface Note {
  /** Chosen by whoever leaves it, so that nobody else guesses it. */
  readonly id: string;
  readonly runtimeId: string;
  readonly kind: 'confirmation' | 'action';
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** From then on it counts for nothing and may be removed. */
  readonly expiresAt: number;
  /** JSON. */
  readonly body: string;
  /** JSON; absent until somebody has replied. */
  readonly reply?: string | undefined;
}

export interface Notes {
  put(note: Note): void | Promise<void>;
  /** Those of a kind, of one runtime or of all, the oldest first. */
  list(kind: Note['kind'], runtimeId?: string): readonly Note[] | Promise<readonly Note[]>;
  /** Replies where the reply so far is `instead`; false when it is another one, or the note is gone. */
  reply(id: string, reply: string, instead?: string): boolean | Promise<boolean>;
  remove(id: string): void | Promise<void>;
}

/** A note that has had its time is shown as such for a while. */
export const keptAfterMs = 86_400_000;

/** A note in a table. Databases give whole numbers as numbers or as text. */
export interface NoteRow {
  readonly id: string;
  readonly runtime: string;
  readonly kind: Note['kind'];
  readonly at: number | string;
  readonly expires: number | string;
  readonly body: string;
  readonly reply: string | null;
}

export function fromNoteRow({ id, runtime, kind, at, expires, body, reply }: NoteRow): Note {
  const note = { id, runtimeId: runtime, kind, at: Number(at), expiresAt: Number(expires), body };
  return reply === null ? note : { ...note, reply };
}

/** Numbered lines of which each follows from the one before. */
export interface Ledger {
  /** Adds one line; whoever else adds one waits until it is there. */
  append(make: (last: LedgerHead) => LedgerLine): void | Promise<void>;
  /** Lines after a number, in order. */
  read(after: number, limit: number): readonly LedgerLine[] | Promise<readonly LedgerLine[]>;
  /** The last line that was added, kept apart from the lines. */
  head(): LedgerHead | Promise<LedgerHead>;
}

export interface LedgerHead {
  /** 0 when there is none. */
  readonly sequence: number;
  readonly hash: string;
}

export interface LedgerLine extends LedgerHead {
  readonly line: string;
}

export const noLine: LedgerHead = { sequence: 0, hash: '' };
