/** The cells of the service: which tenant has which, and the runtime behind each of them while a request uses it. */
import type { z } from 'zod';
import type { Runtime } from '../index.js';
import { WorkcellError } from '../protocol/index.js';
import type { changeCellSchema, FirstFiles } from '../protocol/service-wire.js';
import { AskedBefore, type AskedRequest, type Created, findCell, namedBefore } from './asked-before.js';
import { isGone, lost, pausedMeanwhile, stillThere, unknownTemplate } from './cell-errors.js';
import { CellPool, type Spare } from './cell-pool.js';
import type { ServiceLimits } from './cell-quotas.js';
import { type CellChange, CellRecords } from './cell-records.js';
import { CellRoom } from './cell-room.js';
import { CellSurvey } from './cell-survey.js';
import { CellTimes } from './cell-times.js';
import { type UsageRow, usageOf } from './cell-usage.js';
import { FairQueue } from './fair-queue.js';
import { fillWorkspace } from './first-files.js';
import { type CellInUse, enter, type LiveCell, lookInto, openLive } from './live-cells.js';
import { type AskedCell, changedFields, newRecord } from './new-record.js';
import type { RuntimeSource } from './runtime-source.js';
import type { SavedCheckpoints } from './saved-checkpoints.js';
import { ServiceFigures } from './service-figures.js';
import type { Awaitable, CellRecord, ServiceStore } from './service-store.js';
import type { Template } from './templates.js';
import { Turns } from './turns.js';

type Change = z.output<typeof changeCellSchema>;

export class ServiceCells {
  readonly #store: ServiceStore;
  readonly #source: RuntimeSource;
  readonly #templates: ReadonlyMap<string, Template>;
  readonly #room: CellRoom;
  readonly #log: (message: string, fields: Record<string, unknown>) => void;
  readonly #records: CellRecords;
  readonly #live = new Map<string, LiveCell>();
  readonly #turns = new Turns();
  readonly #asked: AskedBefore;
  readonly #ending = new Set<string>();
  /** Those that are being filled with their first files, which a server may bring slowly. */
  readonly #filling = new Map<string, AbortController>();
  readonly #saved: SavedCheckpoints | undefined;
  readonly #starts: FairQueue;
  readonly #times: CellTimes;
  readonly #pool: CellPool;
  readonly #survey: CellSurvey;
  readonly figures = new ServiceFigures();
  #closed = false;

  constructor(parts: {
    store: ServiceStore;
    source: RuntimeSource;
    templates: ReadonlyMap<string, Template>;
    limits: ServiceLimits;
    log: (message: string, fields: Record<string, unknown>) => void;
    /** Those that a cell may begin with. */
    saved?: SavedCheckpoints | undefined;
    /** Free memory of the machine. */
    freeBytes?: (() => number) | undefined;
  }) {
    this.#store = parts.store;
    this.#records = new CellRecords(parts.store);
    this.#asked = new AskedBefore(parts.store, this.#records.all, this.#turns);
    this.#source = parts.source;
    this.#templates = parts.templates;
    this.#room = new CellRoom({ ...parts, records: this.#records.all });
    this.#log = parts.log;
    this.#saved = parts.saved;
    this.#starts = new FairQueue(parts.limits.startsAtOnce);
    this.#times = new CellTimes({
      records: this.#records.all,
      isUsed: (id) => (this.#live.get(id)?.users ?? 0) > 0,
      usedAt: ({ id, usedAt }) => this.#live.get(id)?.usedAt ?? usedAt,
      lastAt: (record) => this.#lastAt(record),
      end: async ({ id, tenant }, why) => {
        this.#log(`A cell ${why} and is ended.`, { cell: id, tenant });
        await this.remove(tenant, id);
      },
      pause: async ({ id, tenant }) => void (await this.pause(tenant, id)),
      onFailure: (id, error) => this.#complain(id, 'paused or ended', error),
    });
    this.#pool = new CellPool({
      start: (tenant, template, isWanted) => this.#startSpare(tenant, template, isWanted),
      end: async ({ record, runtime }, isAgain) => {
        await (isAgain ? this.#end(record) : runtime.close());
        await this.#store.removeCell(record);
      },
      hasRoom: (tenant, template) => this.#room.mayStartAhead(this.#pool, tenant, template),
      onFailure: (error) => this.#complain('of the pool', 'started or ended', error),
    });
    this.#survey = new CellSurvey({
      records: this.#records.all,
      use: (id) => this.#records.used(id, Date.now()),
      find: (records) => this.#source.find(records),
      isHeld: (id) => this.#live.has(id),
      isChanging: (id) => this.#turns.has(id),
      end: (record) => this.#end(record),
      forget: (id) => this.#forget(id),
      lose: async (id) => void (await this.#records.patch(id, { state: 'lost' })),
      onFailure: (id, error) => this.#complain(id, 'found or ended', error),
    });
  }

  get templates(): readonly Template[] {
    return [...this.#templates.values()];
  }

  /** Whether requests can be served. */
  isReady(): Awaitable<boolean> {
    return this.#store.answers();
  }

  /** A running cell that this process works in, to look at; `use` is for requests. */
  seen(id: string): Runtime | undefined {
    return this.#records.all.get(id)?.state === 'running' ? this.#live.get(id)?.runtime : undefined;
  }

  /** How many are started ahead. */
  get spare(): number {
    return this.#pool.ready;
  }

  /** How many wait for their start. */
  get waiting(): number {
    return this.#starts.length;
  }

  /** Finds the cells of the process before. Call it once, before the first request. */
  async reconcile(): Promise<void> {
    await this.#records.load();
    await this.#survey.first();
    this.#times.watchAll();
  }

  /** A new cell, or the existing one with this name or from this request before. */
  create(tenant: string, asked: AskedCell, request?: AskedRequest): Promise<Created> {
    return this.#asked.once(tenant, request, () => this.#create(tenant, asked, request));
  }

  async #create(tenant: string, asked: AskedCell, request?: AskedRequest): Promise<Created> {
    const template = this.#templates.get(asked.template);
    if (template === undefined) throw unknownTemplate(asked.template, [...this.#templates.keys()]);
    const named = () => namedBefore(this.#records.all, tenant, asked);
    // Wait for a cell that is ending or whose start fails, and then create it anew.
    for (let known = named(); known; known = named()) {
      const record = await this.#asked.settled(known);
      if (record !== undefined) return { record, isNew: false };
    }
    if (asked.checkpoint !== undefined) this.#saved?.get(tenant, asked.checkpoint);
    this.#room.check(tenant, template);
    // A spare cell has started already, so it has neither variables nor a network of its own.
    const isPlain = Object.keys(asked.env).length === 0 && asked.network === undefined;
    const spare = isPlain ? this.#pool.take(tenant, template) : undefined;
    // Somebody asks for this cell, and for those of the pool nobody does.
    const evicted = spare === undefined ? this.#room.make(this.#pool, tenant, template) : undefined;
    const record = newRecord(tenant, asked, template, spare?.record.id);
    const { id } = record;
    const options = {
      ...template.options(tenant, asked.env),
      ...(asked.network !== undefined && { network: asked.network }),
    };
    const open = async () => {
      if (spare !== undefined) return spare.runtime;
      await evicted;
      return this.#start(tenant, () => this.#source.create(id, options, () => this.#lose(id)));
    };
    const start = async () => {
      await added;
      return this.#begin(record, asked, open);
    };
    const isSpare = spare !== undefined;
    // Record it before it starts: repeated requests find it, and an interrupted start leaves no unknown cell.
    const added = this.#records.add(record, request).catch((error: unknown) => {
      if (spare !== undefined) this.#pool.end(spare);
      throw error;
    });
    const started = await this.figures.timed(tenant, isSpare, () => this.#turns.take(id, start));
    this.#pool.fill(tenant, template);
    return { record: started, isNew: true };
  }

  /** By its id or its name. Cells of other tenants do not exist here. */
  get(tenant: string, cell: string): CellRecord {
    const record = findCell(this.#records.all, tenant, cell);
    if (record !== undefined) return this.#withUse(record);
    throw new WorkcellError('cell-not-found', `There is no cell ${JSON.stringify(cell)}.`, {
      details: { cell },
    });
  }

  /** A cell of any tenant, for the operator. */
  byId(id: string): CellRecord | undefined {
    const record = this.#records.all.get(id);
    return record === undefined ? undefined : this.#withUse(record);
  }

  list(tenant: string | undefined): CellRecord[] {
    return [...this.#records.all.values()]
      .filter((record) => tenant === undefined || record.tenant === tenant)
      .map((record) => this.#withUse(record));
  }

  /** Calls it with each change of a cell from now on. Returns the function that stops this. */
  listen(listener: (change: CellChange) => void): () => void {
    return this.#records.listen(listener);
  }

  /** By tenant and day, with what running cells have used so far; days are `YYYY-MM-DD`. */
  async usage(tenant: string | undefined, from: string, to: string): Promise<UsageRow[]> {
    const running = this.list(tenant);
    return usageOf(await this.#store.usage(from, to), running, { tenant, from, to });
  }

  async change(tenant: string, cell: string, change: Change): Promise<CellRecord> {
    const record = this.get(tenant, cell);
    const fields = changedFields(change, this.#templates.get(record.template), this.#lastAt(record));
    const changed = await this.#records.patch(record.id, fields);
    this.#times.watch(record.id);
    return changed;
  }

  /** Changes what a protocol of another system keeps with a cell. */
  amend(
    id: string,
    fields: (current: CellRecord) => Pick<CellRecord, 'onExpiry' | 'facade'>,
  ): Promise<CellRecord> {
    return this.#records.patch(id, fields);
  }

  /** Ends the cell and leaves nothing behind. */
  async remove(tenant: string, cell: string): Promise<void> {
    const { id } = this.get(tenant, cell);
    this.#filling.get(id)?.abort();
    await this.#turns.take(id, async () => {
      const record = this.#records.all.get(id);
      if (record === undefined) return;
      this.#ending.add(id);
      try {
        // A timer of a process that was halted may be long overdue, and the cell be another one's by now.
        await this.#store.checkHeld();
        await this.#end(record);
        await this.#forget(id);
      } finally {
        this.#ending.delete(id);
      }
    });
  }

  /** Whether it is about to end, although lists still show it. */
  isEnding(id: string): boolean {
    return this.#ending.has(id);
  }

  async pause(tenant: string, cell: string): Promise<CellRecord> {
    const { id } = this.get(tenant, cell);
    return this.#turns.take(id, () => this.#pause(id));
  }

  async resume(tenant: string, cell: string): Promise<CellRecord> {
    const { id } = this.get(tenant, cell);
    const live = await this.#turns.take(id, () => this.#wake(id));
    live.usedAt = Date.now();
    return this.get(tenant, id);
  }

  /** What a request works in: attaches to the cell or resumes it, if necessary. */
  async use(tenant: string, cell: string): Promise<CellInUse> {
    const { id, state } = this.get(tenant, cell);
    const ready = state === 'running' && !this.#turns.has(id) ? this.#live.get(id) : undefined;
    const live = ready ?? (await this.#turns.take(id, () => this.#wake(id)));
    return enter(live);
  }

  /** The same for a request that only looks at the cell: it does not count as a use, unless it wakes the cell. */
  async look(tenant: string, cell: string): Promise<CellInUse> {
    const { id, state, usedAt } = this.get(tenant, cell);
    if (state !== 'running') return this.use(tenant, id);
    const ready = this.#turns.has(id) ? undefined : this.#live.get(id);
    if (ready !== undefined) return lookInto(ready);
    return this.#turns.take(id, async () => {
      const { state: now } = this.#records.known(id);
      if (now === 'paused') throw pausedMeanwhile(id);
      const isNew = !this.#live.has(id);
      const live = await this.#wake(id);
      if (isNew) {
        live.usedAt = usedAt;
        this.#times.watch(id);
      }
      return lookInto(live);
    });
  }

  /** Leaves every cell as it is, for the next process. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#times.close();
    this.#survey.close();
    for (const filling of this.#filling.values()) filling.abort();
    await this.#pool.close();
    await this.#turns.allOver();
    await Promise.allSettled([...this.#live].map(([id, live]) => this.#leave(id, live)));
  }

  async #begin(
    { id, tenant }: CellRecord,
    files: FirstFiles,
    open: () => Promise<Runtime>,
  ): Promise<CellRecord> {
    let runtime: Runtime | undefined;
    const filling = new AbortController();
    this.#filling.set(id, filling);
    // Its time may be over before it has its files.
    this.#times.watch(id);
    try {
      runtime = await open();
      await fillWorkspace(runtime, files, { saved: this.#saved, tenant, signal: filling.signal });
      const { workspace, isolation } = runtime;
      const started = await this.#records.patch(id, {
        state: 'running',
        workspace,
        isolation: isolation.tier,
      });
      this.#hold(started, runtime);
      return started;
    } catch (error) {
      const failure = await runtime?.close().catch((cause: unknown) => {
        this.#complain(id, 'ended', cause);
        return 'not ended' as const;
      });
      // Without its record nobody would find the cell again, and end it.
      const state = failure === undefined ? undefined : 'lost';
      await this.#records.settle(id, state, (cause) => this.#complain(id, 'written down', cause));
      if (state === undefined) this.#times.forget(id);
      throw error;
    } finally {
      this.#filling.delete(id);
    }
  }

  /** Starts a cell when its turn comes, if there is memory for it then. */
  #start<Result>(tenant: string, start: () => Promise<Result>): Promise<Result> {
    return this.#starts.run(tenant, async () => {
      this.#room.checkMemory();
      return start();
    });
  }

  /** Kept like a cell whose start is under way: should this process die, the next one ends it. */
  #startSpare(tenant: string, template: Template, isWanted: () => boolean): Promise<Spare | undefined> {
    return this.#start(tenant, async () => {
      if (!isWanted()) return undefined;
      const record = newRecord(tenant, { labels: {} }, template);
      const { id } = record;
      await this.#store.putCell(record);
      try {
        const options = template.options(tenant, {});
        return { record, runtime: await this.#source.create(id, options, () => this.#lose(id)) };
      } catch (error) {
        await this.#store.removeCell(record);
        throw error;
      }
    });
  }

  #hold({ id, tenant }: CellRecord, runtime: Runtime): LiveCell {
    const live = openLive(id, runtime, {
      closeExecutor: () => this.remove(tenant, id),
      beginAction: (key) => this.#store.beginAction(id, key),
      onEvent: (event) => this.figures.happened(tenant, event),
    });
    this.#live.set(id, live);
    this.#times.watch(id);
    // We may have lost it before anybody held it.
    if (runtime.status === 'ERROR_RUNTIME_DISCONNECTED') this.#lose(id);
    return live;
  }

  async #wake(id: string): Promise<LiveCell> {
    const record = this.#records.known(id);
    const live = this.#live.get(id);
    if (live !== undefined) {
      if (record.state !== 'paused') return live;
      await live.runtime.resume();
      // Its idle time begins anew; with the old one it would be over already.
      live.usedAt = Date.now();
      await this.#records.patch(id, { state: 'running' });
      this.#times.watch(id);
      return live;
    }
    if (record.state === 'lost') throw lost(record);
    try {
      // Attaching resumes a paused cell.
      const runtime = await this.#source.attach(record, () => this.#lose(id));
      // What does not change needs no store, which may be away.
      if (record.state !== 'running')
        await this.#records.patch(id, { state: 'running' }).catch(async (error: unknown) => {
          await runtime.detach();
          throw error;
        });
      return this.#hold(this.#records.known(id), runtime);
    } catch (error) {
      if (!isGone(error)) throw error;
      await this.#survey.look(id);
      throw lost(record, error);
    }
  }

  async #pause(id: string): Promise<CellRecord> {
    if (this.#records.known(id).state === 'paused') return this.#records.known(id);
    await this.#store.checkHeld();
    const { runtime } = await this.#wake(id);
    await runtime.pause();
    return this.#records.patch(id, { state: 'paused' });
  }

  async #end(record: CellRecord): Promise<void> {
    const live = this.#live.get(record.id);
    if (live !== undefined) {
      this.#release(record.id, live);
      await live.runtime.close();
      return;
    }
    try {
      const runtime = await this.#source.attach(record, () => {});
      await runtime.close();
    } catch (error) {
      if (!isGone(error)) throw error;
      // What runs inside a cell can keep us out of it, and it would go on without its record.
      if ((await this.#source.find([record])).get(record.id) === true) throw stillThere(record, error);
    }
  }

  /** The connection to the cell broke. The cell itself may continue, so end nothing. */
  #lose(id: string): void {
    const live = this.#live.get(id);
    if (this.#closed || this.#pool.drop(id) || live === undefined) return;
    this.#release(id, live);
    void live.runtime.detach().catch(() => {});
    void this.#turns
      .take(id, () => this.#survey.look(id))
      .catch((error: unknown) => this.#complain(id, 'found', error));
  }

  async #leave(id: string, live: LiveCell): Promise<void> {
    this.#release(id, live);
    const record = this.#records.all.get(id);
    try {
      if (record !== undefined) await this.#store.putCell(record);
    } finally {
      await live.runtime.detach();
    }
  }

  #release(id: string, live: LiveCell): void {
    live.release();
    this.#live.delete(id);
    this.#records.used(id, live.usedAt);
  }

  #complain(cell: string, what: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.#log(`A cell cannot be ${what} now.`, { cell, reason });
  }

  /** The most that its template allows. */
  #lastAt({ template, createdAt }: CellRecord): number | undefined {
    const { ttlMs } = this.#templates.get(template) ?? {};
    return ttlMs === undefined ? undefined : createdAt + ttlMs;
  }

  /** The time of its last use is in memory until this process releases the cell. */
  #withUse(record: CellRecord): CellRecord {
    const live = this.#live.get(record.id);
    return live === undefined ? record : { ...record, usedAt: live.usedAt };
  }

  async #forget(id: string): Promise<void> {
    await this.#records.forget(id);
    this.#times.forget(id);
  }
}
