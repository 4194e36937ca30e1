/**
 * Clients that make cells, work in them and end them while replicas come and go. Each writes down what was acknowledged, and
 * tells at the end what became of it.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ServiceClient } from '../../../src/client/index.js';
import { WorkcellError } from '../../../src/index.js';
import type { EventStore } from '../../../src/runtime/events/event-store.js';
import { operatorKey } from './replica-process.js';

/** One request of a client, and what it knows about it. */
interface CellLog {
  readonly label: string;
  /** Undefined until the creation was acknowledged. */
  id?: string;
  isRemoved: boolean;
  /** Numbers that an action has written, as its answer says. */
  readonly done: number[];
  /** Numbers of actions that the service does not run again, and of which it no longer has the answer. */
  readonly perhaps: number[];
}

/** How soon a client asks again that found nobody. */
const againMs = 20;

export class Load {
  readonly #urls: () => readonly string[];
  readonly #cells: CellLog[] = [];
  readonly #waiting: { readonly count: number; readonly go: () => void }[] = [];
  readonly #key: string;
  readonly #wrong: string[] = [];
  acknowledged = 0;
  failures = 0;
  #isOver = false;

  private constructor(urls: () => readonly string[], key: string) {
    this.#urls = urls;
    this.#key = key;
  }

  /** `urls`: of the replicas that are there now. */
  static async start(
    urls: () => readonly string[],
    clients: number,
  ): Promise<{ load: Load; over: Promise<unknown> }> {
    const tenant = `load-${randomBytes(4).toString('hex')}`;
    const operator = new ServiceClient({ url: urls()[0] ?? '', apiKey: operatorKey });
    const { key } = await operator.createKey({ tenant, role: 'user' });
    const load = new Load(urls, key);
    const over = Promise.all(Array.from({ length: clients }, (_, index) => load.#work(index)));
    return { load, over };
  }

  /** Settles when so many more requests were acknowledged. */
  async more(count: number): Promise<void> {
    const wanted = this.acknowledged + count;
    await new Promise<void>((go) => this.#waiting.push({ count: wanted, go }));
  }

  /** Lets each client finish what it does. */
  stop(): void {
    this.#isOver = true;
  }

  /** What is lost or doubled, in words; empty when all is well. Ends the cells that are left. */
  async check(events: EventStore): Promise<string[]> {
    const wrong = [...this.#wrong];
    const client = new ServiceClient({ url: this.#urls()[0] ?? '', apiKey: this.#key });
    const left = new Map<string, string[]>();
    for await (const { id, labels, state } of client.all()) {
      const label = labels.load ?? '';
      left.set(label, [...(left.get(label) ?? []), id]);
      if (state !== 'running') wrong.push(`${label}: its cell ${id} is ${state}`);
    }
    for (const log of this.#cells) {
      const ids = left.get(log.label) ?? [];
      left.delete(log.label);
      if (log.isRemoved && ids.length > 0) wrong.push(`${log.label}: removed, and there`);
      if (!log.isRemoved && (ids.length !== 1 || ids[0] !== log.id))
        wrong.push(`${log.label}: has cells ${ids}, acknowledged was ${log.id}`);
      if (log.id !== undefined && ids.includes(log.id)) wrong.push(...(await this.#checkInside(log, log.id)));
      if (log.id !== undefined) wrong.push(...(await checkEvents(log, log.id, events)));
    }
    for (const [label, ids] of left) wrong.push(`${label}: nobody asked for ${ids}`);
    for await (const { id } of client.all()) await client.remove(id);
    return wrong;
  }

  async #work(index: number): Promise<void> {
    for (let round = 0; !this.#isOver; round++) {
      const log: CellLog = { label: `${index}-${round}`, isRemoved: false, done: [], perhaps: [] };
      this.#cells.push(log);
      const key = randomBytes(8).toString('hex');
      const cell = { labels: { load: log.label } };
      const made = (await this.#insist('POST', '/v1/cells', cell, key)) as { id: string };
      log.id = made.id;
      // One whose answer got lost looks the same to the service.
      const again = (await this.#insist('POST', '/v1/cells', cell, key)) as { id: string };
      if (again.id !== made.id)
        this.#wrong.push(`${log.label}: the same request made ${made.id} and ${again.id}`);
      for (let number = 0; number < 3; number++) await this.#write(log, made.id, number);
      // The last one stays, for the check.
      if (this.#isOver) return;
      await this.#insist('DELETE', `/v1/cells/${made.id}`);
      log.isRemoved = true;
    }
  }

  async #write(log: CellLog, id: string, number: number): Promise<void> {
    const action = { action: 'run', command: `echo ${number} >> log` };
    const key = randomBytes(8).toString('hex');
    const answer = (await this.#insist('POST', `/v1/cells/${id}/v1/actions`, action, key)) as {
      exitCode?: number;
    };
    if (answer.exitCode === 0) log.done.push(number);
    else log.perhaps.push(number);
  }

  /** Sends it to any replica until one has answered for good. */
  async #insist(method: string, path: string, body?: object, key?: string): Promise<unknown> {
    for (let attempt = Math.floor(Math.random() * 2); ; attempt++) {
      const urls = this.#urls();
      try {
        const response = await fetch(`${urls[attempt % urls.length]}${path}`, {
          method,
          headers: {
            authorization: `Bearer ${this.#key}`,
            ...(body !== undefined && { 'content-type': 'application/json' }),
            ...(key !== undefined && { 'idempotency-key': key }),
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        const answer = text === '' ? {} : (JSON.parse(text) as { error?: { code: string; message: string } });
        const { error } = answer;
        const isDone = error === undefined || settled(method, attempt, error.code);
        if (isDone) {
          this.#count();
          return answer;
        }
        if (!retryable.has(error.code))
          throw new WorkcellError('internal', `${method} ${path}: ${error.message}`);
      } catch (error) {
        if (WorkcellError.isInstance(error)) throw error;
      }
      this.failures++;
      await delay(againMs);
    }
  }

  async #checkInside({ label, done, perhaps }: CellLog, id: string): Promise<string[]> {
    const action = { action: 'run', command: 'cat log' };
    const { output = '' } = (await this.#insist('POST', `/v1/cells/${id}/v1/actions`, action)) as {
      output?: string;
    };
    const found = output.split('\n').filter((line) => line !== '');
    const wrong: string[] = [];
    for (const number of [...done, ...perhaps]) {
      const times = found.filter((line) => line === `${number}`).length;
      const isRight = times === 1 || (times === 0 && perhaps.includes(number));
      if (!isRight) wrong.push(`${label}: action ${number} ran ${times} times`);
    }
    if (found.length > done.length + perhaps.length)
      wrong.push(`${label}: ${found.length} lines in its file`);
    return wrong;
  }

  #count(): void {
    this.acknowledged++;
    for (const one of this.#waiting.filter(({ count }) => count <= this.acknowledged)) {
      this.#waiting.splice(this.#waiting.indexOf(one), 1);
      one.go();
    }
  }
}

/** What a replica says that is gone, has just come, or cannot reach the store. */
const retryable = new Set([
  'store-unavailable',
  'cell-in-use',
  'runtime-disconnected',
  'cancelled',
  'rate-limited',
  'runtime-closed',
]);

/** A refusal that says that the request was carried out before. */
function settled(method: string, attempt: number, code: string): boolean {
  if (method === 'DELETE') return attempt > 0 && code === 'cell-not-found';
  return code === 'output-not-found';
}

/** Each action whose answer somebody has is in the record, with its outcome. */
async function checkEvents({ label, done }: CellLog, id: string, events: EventStore): Promise<string[]> {
  const kept = await events.read(id, { after: 0, limit: 10_000 });
  return done.flatMap((number) => {
    const began = kept.filter(
      (event) =>
        event.kind === 'action' && (event.action as { command?: string }).command === `echo ${number} >> log`,
    );
    const outcomes = kept.filter(
      (event) => event.kind === 'observation' && began.some(({ id: cause }) => cause === event.cause),
    );
    if (began.length === 1 && outcomes.length === 1) return [];
    return [`${label}: action ${number} has ${began.length} events and ${outcomes.length} outcomes`];
  });
}
