/** Events in a PostgreSQL database, for runtimes on many machines. */
import type { Pool } from 'pg';
import type { WorkcellEvent } from '../../../protocol/index.js';
import type {
  EventStore,
  ListedRuntime,
  ReadQuery,
  Retention,
  RuntimesQuery,
  StoredRuntime,
  Watch,
} from '../event-store.js';
import { collectPages } from '../pages.js';
import { closedText, eventsOf, placesOf, type Row, toRow } from '../rows.js';
import { shownUrl } from '../store-place.js';
import { compactStep } from './postgres-compaction.js';
import { connect, inTransaction, toUnavailable } from './postgres-connect.js';
import { listen } from './postgres-listen.js';
import { PostgresLedger, PostgresMailbox } from './postgres-mailbox.js';
import { selectEvents } from './postgres-query.js';

const columns = ['runtime', 'id', 'at', 'kind', 'source', 'cause', 'body', 'texts'] as const;

/** Uses come before the texts they use, and one statement locks both against removal. */
const insert = `
  WITH notified AS (
    SELECT pg_notify('workcell_events', runtime) FROM (SELECT DISTINCT unnest($1::text[]) AS runtime) AS touched
  ), added AS (
    INSERT INTO workcell.events (${columns.join()})
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::text[])
  ), uses AS (
    INSERT INTO workcell.text_uses (digest, runtime, id) SELECT * FROM unnest($9::text[], $10::text[], $11::bigint[])
  ), kept AS (
    INSERT INTO workcell.texts (digest, json) SELECT * FROM unnest($12::text[], $13::text[]) ON CONFLICT DO NOTHING
  )
  SELECT count(*) FROM notified`;

export async function openPostgres(url: string): Promise<EventStore> {
  return new PostgresStore(url, await connect(url));
}

class PostgresStore implements EventStore {
  readonly name: string;
  readonly mailbox: PostgresMailbox;
  readonly ledger: PostgresLedger;
  readonly #url: string;
  readonly #pool: Pool;

  constructor(url: string, pool: Pool) {
    this.name = shownUrl(url);
    this.#url = url;
    this.#pool = pool;
    const guarded = <Result>(work: () => Promise<Result>) => this.#guarded(work);
    this.mailbox = new PostgresMailbox(pool, guarded);
    this.ledger = new PostgresLedger(pool, guarded);
  }

  async append(events: readonly WorkcellEvent[]): Promise<void> {
    if (events.length === 0) return;
    const made = events.map(toRow);
    const texts = new Map(made.flatMap(({ long }) => long.map(({ digest, json }) => [digest, json])));
    const uses = made.flatMap(({ row, long }) => long.map(({ digest }) => ({ digest, row })));
    await this.#guarded(() =>
      this.#pool.query({
        name: 'append',
        text: insert,
        values: [
          ...columns.map((column) => made.map(({ row }) => row[column])),
          uses.map(({ digest }) => digest),
          uses.map(({ row }) => row.runtime),
          uses.map(({ row }) => row.id),
          [...texts.keys()],
          [...texts.values()],
        ],
      }),
    );
  }

  read(runtimeId: string, query: ReadQuery): Promise<WorkcellEvent[]> {
    return collectPages(query, async (after) => {
      const { rows } = await this.#guarded(() =>
        this.#pool.query<Row>(selectEvents(runtimeId, { ...query, after })),
      );
      const texts = await this.#textsOf(rows, query.cutTexts);
      return eventsOf(rows, query, (digest) => texts.get(digest));
    });
  }

  async last(runtimeId: string): Promise<number> {
    const { rows } = await this.#guarded(() =>
      this.#pool.query<{ id: string | null }>(
        'SELECT max(id) AS id FROM workcell.events WHERE runtime = $1',
        [runtimeId],
      ),
    );
    return Number(rows[0]?.id ?? 0);
  }

  async runtimes(): Promise<StoredRuntime[]> {
    const { rows } = await this.#guarded(() =>
      // Steps from one runtime to the next, without reading the events between.
      this.#pool.query<Record<keyof StoredRuntime, string>>(`
        WITH RECURSIVE found (runtime) AS (
          (SELECT runtime FROM workcell.events ORDER BY runtime LIMIT 1)
          UNION ALL
          SELECT (SELECT runtime FROM workcell.events WHERE runtime > found.runtime ORDER BY runtime LIMIT 1)
          FROM found WHERE found.runtime IS NOT NULL
        )
        SELECT found.runtime AS "runtimeId", first.id AS "firstId", first.at AS "firstAt", last.id AS "lastId", last.at AS "lastAt"
        FROM found
        CROSS JOIN LATERAL (SELECT id, at FROM workcell.events WHERE runtime = found.runtime ORDER BY id LIMIT 1) AS first
        CROSS JOIN LATERAL (SELECT id, at FROM workcell.events WHERE runtime = found.runtime ORDER BY id DESC LIMIT 1) AS last
        ORDER BY first.at DESC`),
    );
    return rows.map(stored);
  }

  async page({ limit, before, ids }: RuntimesQuery): Promise<ListedRuntime[]> {
    const { rows } = await this.#guarded(() =>
      this.#pool.query<Record<keyof ListedRuntime, string>>(
        `SELECT found.runtime AS "runtimeId", found.began_at AS "beganAt",
          first.id AS "firstId", first.at AS "firstAt", last.id AS "lastId", last.at AS "lastAt"
        FROM workcell.runtimes AS found
        CROSS JOIN LATERAL (SELECT id, at FROM workcell.events WHERE runtime = found.runtime ORDER BY id LIMIT 1) AS first
        CROSS JOIN LATERAL (SELECT id, at FROM workcell.events WHERE runtime = found.runtime ORDER BY id DESC LIMIT 1) AS last
        WHERE ($2::bigint IS NULL OR (found.began_at, found.runtime) < ($2, $3 COLLATE "C"))
          AND ($4::text[] IS NULL OR found.runtime = ANY($4))
        ORDER BY found.began_at DESC, found.runtime DESC LIMIT $1`,
        [limit, before?.at ?? null, before?.id ?? null, ids ?? null],
      ),
    );
    return rows.map((row) => ({ ...stored(row), beganAt: Number(row.beganAt) }));
  }

  async compact(retention: Retention): Promise<boolean> {
    const oldestFirst = async () => (await this.runtimes()).toReversed();
    return this.#guarded(() =>
      inTransaction(this.#pool, (client) => compactStep(client, retention, oldestFirst)),
    );
  }

  watch(runtimeId: string, onChange: () => void): Promise<Watch> {
    return this.#guarded(() => listen(this.#url, runtimeId, onChange));
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  async #textsOf(rows: readonly Row[], longest: number | undefined): Promise<Map<string, string>> {
    const digests = [...new Set(rows.flatMap((row) => placesOf(row).map(([, digest]) => digest)))];
    if (digests.length === 0) return new Map();
    const found = await this.#guarded(() =>
      this.#pool.query<{ digest: string; json: string }>(
        longest === undefined
          ? 'SELECT digest, json FROM workcell.texts WHERE digest = ANY($1)'
          : 'SELECT digest, left(json, $2) AS json FROM workcell.texts WHERE digest = ANY($1)',
        longest === undefined ? [digests] : [digests, longest],
      ),
    );
    return new Map(found.rows.map(({ digest, json }) => [digest, closedText(json, longest)]));
  }

  async #guarded<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw toUnavailable(this.#url, error);
    }
  }
}

function stored({ runtimeId, firstId, lastId, firstAt, lastAt }: Record<keyof StoredRuntime, string>) {
  return {
    runtimeId,
    firstId: Number(firstId),
    lastId: Number(lastId),
    firstAt: Number(firstAt),
    lastAt: Number(lastAt),
  };
}
