/** Tells an address of the operator when cells change their state: signed, in order, and never in the way of a request. */
import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '../base/http/http-options.js';
import type { CellNotice } from '../protocol/service-wire.js';
import type { CellChange } from './cell-records.js';
import { shownCell } from './shown-cell.js';

export interface WebhookTarget {
  readonly url: string;
  /** Signs what is sent. */
  readonly secret: string;
}

/** More wait for a target that is down than anybody would read; the oldest go first. */
const mostWaiting = 1000;

/** In which the target must answer. */
const answerMs = 10_000;

/** Between attempts. After the last one a notice is given up. */
const defaultDelaysMs = [1000, 5000, 30_000, 120_000, 600_000];

export class Webhooks {
  readonly #target: WebhookTarget;
  readonly #log: Log;
  readonly #delaysMs: readonly number[];
  readonly #waiting: CellNotice[] = [];
  readonly #closed = new AbortController();
  #sending: Promise<void> | undefined;

  constructor(target: WebhookTarget, log: Log, delaysMs: readonly number[] = defaultDelaysMs) {
    this.#target = target;
    this.#log = log;
    this.#delaysMs = delaysMs;
  }

  /** How many notices wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Sends a change of state soon; other changes do not count. */
  tell({ record, before, isGone }: CellChange): void {
    if (this.#closed.signal.aborted || (!isGone && record.state === before?.state)) return;
    this.#waiting.push({
      id: randomUUID(),
      at: new Date().toISOString(),
      state: isGone ? 'gone' : record.state,
      ...(before !== undefined && { before: before.state }),
      cell: shownCell(record),
    });
    if (this.#waiting.length > mostWaiting) this.#giveUp(this.#waiting.shift(), 'too many wait');
    this.#sending ??= this.#sendAll();
  }

  /** Gives up what waits. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#sending;
  }

  async #sendAll(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift())
      if (!this.#closed.signal.aborted) await this.#send(next);
    this.#sending = undefined;
  }

  async #send(notice: CellNotice): Promise<void> {
    for (const delayMs of [...this.#delaysMs, undefined]) {
      const problem = await this.#attempt(notice);
      if (problem === undefined || this.#closed.signal.aborted) return;
      if (delayMs === undefined) return this.#giveUp(notice, problem);
      await wait(delayMs, undefined, { signal: this.#closed.signal, ref: false }).catch(() => {});
    }
  }

  /** What went wrong, if anything did. */
  async #attempt(notice: CellNotice): Promise<string | undefined> {
    const body = JSON.stringify(notice);
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = createHmac('sha256', this.#target.secret).update(`${timestamp}.${body}`).digest('hex');
    try {
      const answer = await fetch(this.#target.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-workcell-timestamp': timestamp,
          'x-workcell-signature': `sha256=${signature}`,
        },
        body,
        // The operator named this address, and no other.
        redirect: 'manual',
        signal: AbortSignal.any([this.#closed.signal, AbortSignal.timeout(answerMs)]),
      });
      await answer.body?.cancel();
      return answer.ok ? undefined : `it answers ${answer.status}`;
    } catch (error) {
      const { cause, message } = error as Error;
      return cause instanceof Error ? cause.message : message;
    }
  }

  #giveUp(notice: CellNotice | undefined, reason: string): void {
    if (notice === undefined) return;
    const { id, state, cell } = notice;
    this.#log('warn', 'A webhook was given up.', { notice: id, cell: cell.id, state, reason });
  }
}
