/** The records of all runtimes in the configured event store, and the questions that wait there. */
import type { z } from 'zod';
import { Pace } from '../base/pace.js';
import { WorkcellError, type WorkcellEvent } from '../protocol/index.js';
import type { Activity, answerSchema, Question, RecordList } from '../protocol/record-wire.js';
import type { EventStore, ReadQuery } from '../runtime/events/event-store.js';
import { openEventStore } from '../runtime/events/open.js';
import { changes } from '../runtime/events/store-changes.js';
import { type Confirmations, openConfirmations } from '../runtime/security/index.js';
import type { MadeAt, Page } from './service-store.js';

const pageEvents = 250;
/** One event may hold many megabytes, and a page stands in the memory of a service for all. */
const pageSize = 4 * 1024 * 1024;
/** More than a list shows of a text. */
const cutTexts = 8192;

/** How far back to look for the last action of a cell: its decision, its outcome and connections come behind it. */
const lookBack = 50;

export class Records {
  readonly #name: string | undefined;
  #opened: Promise<{ store: EventStore; desk: Confirmations }> | undefined;

  /** `name`: in the form of `events.store`. The store opens on first use. */
  constructor(name: string | undefined) {
    this.#name = name;
  }

  /** A page of all of them, those that began last first. */
  async list(page: Page): Promise<RecordList> {
    const { store } = await this.#open();
    const found = await store.page({ ...page, limit: page.limit + 1 });
    const shown = found.slice(0, page.limit);
    const last = found.length > shown.length ? shown.at(-1) : undefined;
    return {
      records: shown.map(({ runtimeId, beganAt: _, ...rest }) => ({ id: runtimeId, ...rest })),
      ...(last !== undefined && { next: `${last.beganAt}.${last.runtimeId}` }),
    };
  }

  /** The records of a page of cells; a cell in which nothing happened has none. `next`: the cell that ends the page. */
  async of(cells: readonly MadeAt[], next: MadeAt | undefined): Promise<RecordList> {
    const { store } = await this.#open();
    const ids = cells.map(({ id }) => id);
    const found = await store.page({ ids, limit: ids.length });
    const infos = new Map(found.map(({ runtimeId, beganAt: _, ...rest }) => [runtimeId, rest]));
    return {
      records: ids.flatMap((id) => {
        const info = infos.get(id);
        return info === undefined ? [] : [{ id, ...info }];
      }),
      ...(next !== undefined && { next: `${next.at}.${next.id}` }),
    };
  }

  /** A page, and whether more may follow. `brief`: long texts may come cut. */
  async read(
    id: string,
    query: ReadQuery,
    brief: boolean,
  ): Promise<{ events: readonly WorkcellEvent[]; more: boolean }> {
    const { store } = await this.#open();
    // Somebody who looks for a text wants it found in the whole of an event.
    const cut = brief && query.text === undefined ? { cutTexts } : {};
    const events = await store.read(id, { ...query, ...cut, maxSize: pageSize });
    const last = events.at(-1);
    return { events, more: last !== undefined && last.id < (await store.last(id)) };
  }

  /** Events after an id, page by page, then new ones as they come, until the runtime stops or the signal aborts. */
  async *follow(
    id: string,
    { after, brief }: { readonly after: number; readonly brief: boolean },
    signal: AbortSignal,
  ): AsyncIterable<readonly WorkcellEvent[]> {
    const { store } = await this.#open();
    // A reader on this machine takes each page at once, and others have requests, too.
    const pace = new Pace(undefined);
    let position = after;
    for await (const _ of changes(store, id, signal)) {
      for (let page = await next(); page.length > 0 && !signal.aborted; page = await next()) {
        position = page.at(-1)?.id ?? position;
        yield page;
        if (page.some(isEnd)) return;
        await pace.step();
      }
    }
    async function next(): Promise<readonly WorkcellEvent[]> {
      const cut = brief ? { cutTexts } : {};
      return store.read(id, { after: position, limit: pageEvents, maxSize: pageSize, ...cut });
    }
  }

  /** The id of the newest event; 0 when there is none. */
  async last(id: string): Promise<number> {
    const { store } = await this.#open();
    return store.last(id);
  }

  async checkKnown(id: string): Promise<void> {
    if ((await this.last(id)) > 0) return;
    throw new WorkcellError('not-found', `There is no record of a runtime ${JSON.stringify(id)}.`, {
      details: { id },
    });
  }

  /** What each of these runtimes did last. */
  async activity(ids: readonly string[]): Promise<Activity[]> {
    const { store } = await this.#open();
    const found: Activity[] = [];
    for (const id of ids) {
      const lastId = await store.last(id);
      if (lastId === 0) continue;
      const after = Math.max(0, lastId - lookBack);
      const actions = await store.read(id, { after, limit: lookBack, kinds: ['action'], cutTexts });
      const [latest] = await store.read(id, { after: lastId - 1, limit: 1, cutTexts });
      const action = actions.at(-1);
      const at = latest?.at ?? 0;
      found.push({
        id,
        lastId,
        at,
        ...(action?.kind === 'action' && { action: inWords(action.action) }),
      });
    }
    return found;
  }

  async questions(): Promise<Question[]> {
    const { desk } = await this.#open();
    return (await desk.list()).map(
      ({ id, kind, cell, forCell, action, risk, reasons, askedAt, expiresAt }) => ({
        id,
        ...(kind !== undefined && { kind }),
        ...(cell !== undefined && { cell }),
        ...(forCell === true && { forCell }),
        action: { ...action },
        risk,
        reasons,
        askedAt,
        expiresAt,
      }),
    );
  }

  async answer(
    id: string,
    { answer, scope, who, word }: z.output<typeof answerSchema> & { readonly who: string },
  ): Promise<void> {
    const { desk } = await this.#open();
    await desk.answer(id, answer, who, scope, word);
  }

  async close(): Promise<void> {
    const opened = await this.#opened?.catch(() => undefined);
    this.#opened = undefined;
    await opened?.desk.close();
    await opened?.store.close();
  }

  #open(): Promise<{ store: EventStore; desk: Confirmations }> {
    if (this.#name === 'memory')
      throw new WorkcellError(
        'capability-unsupported',
        'Events are kept in memory, so there is no record to show. Set events.store to a file or a database.',
      );
    this.#opened ??= (async () => {
      const store = await openEventStore(this.#name);
      try {
        return { store, desk: await openConfirmations(this.#name) };
      } catch (error) {
        await store.close();
        throw error;
      }
    })();
    // A store that does not open now may open at the next request.
    this.#opened.catch(() => {
      this.#opened = undefined;
    });
    return this.#opened;
  }
}

function isEnd(event: WorkcellEvent): boolean {
  return event.kind === 'status' && event.status.status === 'STOPPED';
}

const longestWords = 200;

function inWords(action: { readonly action: string }): string {
  const { command, path, url } = action as Record<string, unknown>;
  const what = [command, path, url].find((value) => typeof value === 'string');
  return [action.action, ...(typeof what === 'string' ? [what] : [])].join(' ').slice(0, longestWords);
}
