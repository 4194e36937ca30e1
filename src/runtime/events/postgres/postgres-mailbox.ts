/** The mailbox and the ledger in the tables of a PostgreSQL database. */
import type { Pool } from 'pg';
import { type Ledger, type LedgerHead, type LedgerLine, noLine } from '../ledger.js';
import {
  fromMailboxRow,
  keptAfterMs,
  type Mailbox,
  type MailboxMessage,
  type MailboxRow,
} from '../mailbox.js';
import { inTransaction } from './postgres-connect.js';

type Guarded = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Any number that others are unlikely to lock. */
const ledgerLock = 7_266_735_112;

export class PostgresMailbox implements Mailbox {
  readonly #pool: Pool;
  readonly #guarded: Guarded;

  constructor(pool: Pool, guarded: Guarded) {
    this.#pool = pool;
    this.#guarded = guarded;
  }

  async put({ id, runtimeId, kind, at, expiresAt, body, reply }: MailboxMessage): Promise<void> {
    await this.#guarded(() =>
      this.#pool.query(
        `WITH old AS (DELETE FROM workcell.notes WHERE expires < $8),
          added AS (INSERT INTO workcell.notes VALUES ($1, $2, $3, $4, $5, $6, $7))
        SELECT pg_notify('workcell_events', $2)`,
        [id, runtimeId, kind, at, expiresAt, body, reply ?? null, Date.now() - keptAfterMs],
      ),
    );
  }

  async list(kind: MailboxMessage['kind'], runtimeId?: string): Promise<MailboxMessage[]> {
    const { rows } = await this.#guarded(() =>
      this.#pool.query<MailboxRow>(
        'SELECT * FROM workcell.notes WHERE kind = $1 AND ($2::text IS NULL OR runtime = $2) ORDER BY at, id',
        [kind, runtimeId ?? null],
      ),
    );
    return rows.map(fromMailboxRow);
  }

  async reply(id: string, reply: string, instead?: string): Promise<boolean> {
    const { rowCount } = await this.#guarded(() =>
      this.#pool.query(
        `WITH replied AS (
          UPDATE workcell.notes SET reply = $2 WHERE id = $1 AND reply IS NOT DISTINCT FROM $3 RETURNING runtime
        ) SELECT pg_notify('workcell_events', runtime) FROM replied`,
        [id, reply, instead ?? null],
      ),
    );
    return (rowCount ?? 0) > 0;
  }

  async remove(id: string): Promise<void> {
    await this.#guarded(() => this.#pool.query('DELETE FROM workcell.notes WHERE id = $1', [id]));
  }
}

export class PostgresLedger implements Ledger {
  readonly #pool: Pool;
  readonly #guarded: Guarded;

  constructor(pool: Pool, guarded: Guarded) {
    this.#pool = pool;
    this.#guarded = guarded;
  }

  async append(make: (last: LedgerHead) => LedgerLine): Promise<void> {
    await this.#guarded(() =>
      inTransaction(this.#pool, async (client) => {
        await client.query('SELECT pg_advisory_xact_lock($1)', [ledgerLock]);
        const { rows } = await client.query<{ sequence: string; hash: string }>(
          'SELECT sequence, hash FROM workcell.ledger_head',
        );
        const { sequence, hash, line } = make(headOf(rows[0]));
        await client.query('INSERT INTO workcell.ledger VALUES ($1, $2, $3)', [sequence, hash, line]);
        await client.query('DELETE FROM workcell.ledger_head');
        await client.query('INSERT INTO workcell.ledger_head VALUES ($1, $2)', [sequence, hash]);
      }),
    );
  }

  async read(after: number, limit: number): Promise<LedgerLine[]> {
    const { rows } = await this.#guarded(() =>
      this.#pool.query<{ sequence: string; hash: string; line: string }>(
        'SELECT sequence, hash, line FROM workcell.ledger WHERE sequence > $1 ORDER BY sequence LIMIT $2',
        [after, limit],
      ),
    );
    return rows.map(({ sequence, hash, line }) => ({ sequence: Number(sequence), hash, line }));
  }

  async head(): Promise<LedgerHead> {
    const { rows } = await this.#guarded(() =>
      this.#pool.query<{ sequence: string; hash: string }>('SELECT sequence, hash FROM workcell.ledger_head'),
    );
    return headOf(rows[0]);
  }
}

function headOf(row: { sequence: string; hash: string } | undefined): LedgerHead {
  return row === undefined ? noLine : { sequence: Number(row.sequence), hash: row.hash };
}
