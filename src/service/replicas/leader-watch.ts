/** Knows which replica serves now. While the database is away, that is the last one known. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import { leaderChannel } from './leadership.js';
import { againMs, close, openSession } from './session.js';

export class LeaderWatch {
  readonly #url: string;
  readonly #onChange: () => void;
  #session: Client | undefined;
  #closed = false;
  #address: string | undefined;

  constructor(url: string, onChange: () => void) {
    this.#url = url;
    this.#onChange = onChange;
  }

  /** Where it listens for the others, as it has announced. */
  get address(): string | undefined {
    return this.#address;
  }

  /** Watches until it is closed, and looks again whenever the connection breaks. */
  async start(): Promise<void> {
    while (!this.#closed) {
      await this.#watch().catch(() => {});
      if (!this.#closed) await delay(againMs);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await close(this.#session);
  }

  /** Settles when its connection is over. */
  async #watch(): Promise<void> {
    let end = () => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    const session = await openSession(this.#url, end);
    this.#session = session;
    try {
      if (this.#closed) return;
      session.on('notification', () => void this.#look(session).catch(() => {}));
      await session.query(`LISTEN ${leaderChannel}`);
      await this.#look(session);
      await over;
    } finally {
      await close(session);
    }
  }

  async #look(session: Client): Promise<void> {
    const { rows } = await session.query<{ address: string | null }>(
      'SELECT address FROM workcell_service.holder',
    );
    const address = rows[0]?.address ?? undefined;
    // One that has just begun says soon where it is; the one before may have let go, or not.
    this.#address = address;
    this.#onChange();
  }
}
