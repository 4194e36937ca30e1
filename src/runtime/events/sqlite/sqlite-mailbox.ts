/** The mailbox and the ledger in the tables of a SQLite file. */
import { type Ledger, type LedgerHead, type LedgerLine, noLine } from '../ledger.js';
import {
  fromMailboxRow,
  keptAfterMs,
  type Mailbox,
  type MailboxMessage,
  type MailboxRow,
} from '../mailbox.js';

interface Statement {
  run(...values: (string | number | null)[]): { changes: number | bigint };
  get(...values: (string | number | null)[]): unknown;
  all(...values: (string | number | null)[]): unknown[];
}

interface Tables {
  prepare(sql: string): Statement;
  read<Result>(work: () => Result): Result;
  transaction<Result>(work: () => Result): Result;
}

export class SqliteMailbox implements Mailbox {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  put({ id, runtimeId, kind, at, expiresAt, body, reply }: MailboxMessage): void {
    const { prepare, transaction } = this.#tables;
    transaction(() => {
      prepare('DELETE FROM notes WHERE expires < ?').run(Date.now() - keptAfterMs);
      prepare('INSERT INTO notes VALUES (?, ?, ?, ?, ?, ?, ?)').run(
        id,
        runtimeId,
        kind,
        at,
        expiresAt,
        body,
        reply ?? null,
      );
    });
  }

  list(kind: MailboxMessage['kind'], runtimeId?: string): MailboxMessage[] {
    const { prepare, read } = this.#tables;
    const rows = read(() =>
      runtimeId === undefined
        ? prepare('SELECT * FROM notes WHERE kind = ? ORDER BY at, id').all(kind)
        : prepare('SELECT * FROM notes WHERE kind = ? AND runtime = ? ORDER BY at, id').all(kind, runtimeId),
    );
    return (rows as MailboxRow[]).map(fromMailboxRow);
  }

  reply(id: string, reply: string, instead?: string): boolean {
    const { prepare, transaction } = this.#tables;
    return transaction(
      () =>
        Number(
          prepare('UPDATE notes SET reply = ? WHERE id = ? AND reply IS ?').run(reply, id, instead ?? null)
            .changes,
        ) > 0,
    );
  }

  remove(id: string): void {
    const { prepare, transaction } = this.#tables;
    transaction(() => prepare('DELETE FROM notes WHERE id = ?').run(id));
  }
}

export class SqliteLedger implements Ledger {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  append(make: (last: LedgerHead) => LedgerLine): void {
    const { prepare, transaction } = this.#tables;
    transaction(() => {
      const { sequence, hash, line } = make(this.#head());
      prepare('INSERT INTO ledger VALUES (?, ?, ?)').run(sequence, hash, line);
      prepare('DELETE FROM ledger_head').run();
      prepare('INSERT INTO ledger_head VALUES (?, ?)').run(sequence, hash);
    });
  }

  read(after: number, limit: number): LedgerLine[] {
    const { prepare, read } = this.#tables;
    const rows = read(() =>
      prepare('SELECT * FROM ledger WHERE sequence > ? ORDER BY sequence LIMIT ?').all(after, limit),
    );
    return (rows as LedgerLine[]).map(({ sequence, hash, line }) => ({
      sequence: Number(sequence),
      hash,
      line,
    }));
  }

  head(): LedgerHead {
    return this.#tables.read(() => this.#head());
  }

  #head(): LedgerHead {
    const row = this.#tables.prepare('SELECT * FROM ledger_head').get() as LedgerHead | undefined;
    return row === undefined ? noLine : { sequence: Number(row.sequence), hash: row.hash };
  }
}
