/**
 * Which of the replicas serves: the one whose connection holds a lock in the database. It lapses with that connection, so
 * at once when the process is killed, and after a while when it is halted or its machine is gone. Whoever gets it raises
 * the epoch, and writes of an earlier epoch do nothing: see `postgres-service-store.ts`.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Log } from '../../base/http/http-options.js';
import { againMs, close, openSession } from './session.js';

/** Any number that others are unlikely to lock. */
const leaderLock = 7_266_735_114;

/** Tells the replicas that another one serves. */
export const leaderChannel = 'workcell_service';

interface Options {
  readonly url: string;
  /** How long a holder may be silent. */
  readonly leaseMs: number;
  readonly log: Log;
}

export class Leadership {
  readonly #options: Options;
  readonly #closing = new AbortController();
  #waiting: Client | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Waits for its turn, however long; undefined when it was closed before. */
  async win(): Promise<Term | undefined> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        const end = { now: () => {} };
        const session = await openSession(this.#options.url, () => end.now());
        this.#waiting = session;
        if (signal.aborted) await close(session);
        await session.query('SELECT pg_advisory_lock($1)', [leaderLock]);
        const { rows } = await session.query<{ epoch: string }>(
          'UPDATE workcell_service.holder SET epoch = epoch + 1, address = NULL RETURNING epoch',
        );
        this.#waiting = undefined;
        const term = new Term(this.#options, Number(rows[0]?.epoch), session);
        end.now = () => void term.restore();
        return term;
      } catch (error) {
        await close(this.#waiting);
        if (signal.aborted) break;
        const reason = error instanceof Error ? error.message : String(error);
        this.#options.log('warn', 'This replica cannot ask for the lease now.', { reason });
        await delay(againMs, undefined, { signal }).catch(() => {});
      }
    }
    return undefined;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await close(this.#waiting);
  }
}

/** The time in which this replica serves. */
export class Term {
  readonly epoch: number;
  /** Settles when another replica may serve, or `end` was called. */
  readonly over: Promise<void>;
  readonly #options: Options;
  readonly #beat: NodeJS.Timeout;
  #session: Client | undefined;
  #finish = () => {};
  #ended = false;

  constructor(options: Options, epoch: number, session: Client) {
    this.epoch = epoch;
    this.#options = options;
    this.#session = session;
    this.over = new Promise((resolve) => {
      this.#finish = resolve;
    });
    void this.#expect(session);
    this.#beat = setInterval(() => void this.#session?.query('SELECT').catch(() => {}), options.leaseMs / 3);
  }

  /** Another one has it, as a write has found. */
  lose(): void {
    if (this.#ended) return;
    this.#options.log('warn', 'Another replica has taken over, so this one serves no more.');
    void this.end();
  }

  /** Tells the others where to find this one. */
  async announce(address: string): Promise<void> {
    await this.#session?.query('UPDATE workcell_service.holder SET address = $1 WHERE epoch = $2', [
      address,
      this.epoch,
    ]);
    await this.#session?.query(`NOTIFY ${leaderChannel}`);
  }

  /** Releases it for others. Succeeds when called twice. */
  async end(): Promise<void> {
    this.#ended = true;
    clearInterval(this.#beat);
    const session = this.#session;
    this.#session = undefined;
    await close(session);
    this.#finish();
  }

  /** The connection broke. Until another one takes over, the epoch is still ours, and so are its cells. */
  async restore(): Promise<void> {
    this.#session = undefined;
    while (!this.#ended) {
      let session: Client | undefined;
      try {
        const end = { now: () => {} };
        session = await openSession(this.#options.url, () => end.now());
        const { rows } = await session.query<{ locked: boolean; epoch: string }>(
          'SELECT pg_try_advisory_lock($1) AS locked, (SELECT epoch FROM workcell_service.holder) AS epoch',
          [leaderLock],
        );
        const { locked, epoch } = rows[0] ?? {};
        if (Number(epoch) !== this.epoch) this.lose();
        else if (locked === true && !this.#ended) {
          end.now = () => void this.restore();
          this.#session = session;
          return await this.#expect(session);
        }
      } catch {
        // The database is away. If it is so for this one only, another takes over, and what we write or ask there fails.
      }
      await close(session);
      if (!this.#ended) await delay(againMs);
    }
  }

  /** The database ends the connection of a holder that is silent, such as a halted one. Needs version 14. */
  async #expect(session: Client): Promise<void> {
    await session.query(`SET idle_session_timeout = ${Math.round(this.#options.leaseMs)}`).catch(() => {});
  }
}
