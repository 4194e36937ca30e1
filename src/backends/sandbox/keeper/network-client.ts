/** The gateway of a held cell, for the process that works in the cell. */
import { isDeepStrictEqual } from 'node:util';
import {
  type CellNetwork,
  type FullNetworkRules,
  type NetworkAsker,
  type NetworkRecord,
  type NetworkRules,
  type NetworkSecret,
  type NetworkStats,
  networkRulesSchema,
  WorkcellError,
} from '../../../protocol/index.js';
import type { BoundSecret } from './keeper-messages.js';
import type { LineConnection } from './lines.js';
import { fromGatewaySchema, type ToGateway } from './network-messages.js';

/** Others may change the rules at the same time: answers to questions do. */
const tries = 10;

interface Outcome {
  readonly error?: { readonly code: string; readonly message: string } | undefined;
  readonly instead?: FullNetworkRules | undefined;
}

export class NetworkClient implements CellNetwork {
  readonly #connection: LineConnection;
  #rules: FullNetworkRules;
  #stats: NetworkStats;
  #asker: NetworkAsker | undefined;
  #secrets: readonly NetworkSecret[] = [];
  #listener: ((event: NetworkRecord) => void) | undefined;
  /** What came before anybody listened. */
  readonly #unheard: NetworkRecord[] = [];
  readonly #questions = new Map<number, AbortController>();
  readonly #changes = new Map<number, (outcome: Outcome) => void>();
  #changing: Promise<void> = Promise.resolve();
  #count = 0;
  #ended = false;

  private constructor(connection: LineConnection, rules: FullNetworkRules, stats: NetworkStats) {
    this.#connection = connection;
    this.#rules = rules;
    this.#stats = stats;
  }

  /** `connection`: one that the gateway has accepted. */
  static async open(connection: LineConnection): Promise<NetworkClient> {
    const first = read(await connection.next());
    if (first === undefined || !('stats' in first) || first.rules === undefined) {
      connection.close();
      throw gone();
    }
    const client = new NetworkClient(connection, first.rules, first.stats);
    void client.#follow();
    return client;
  }

  rules(): FullNetworkRules {
    return structuredClone(this.#rules);
  }

  stats(): NetworkStats {
    return this.#stats;
  }

  answerWith(asker: NetworkAsker | undefined): void {
    this.#asker = asker;
  }

  provide(secrets: readonly NetworkSecret[]): void {
    this.#secrets = secrets;
  }

  listen(listener: (event: NetworkRecord) => void): void {
    this.#listener = listener;
    for (const record of this.#unheard.splice(0)) listener(record);
  }

  change(next: (before: FullNetworkRules) => NetworkRules): Promise<void> {
    const changed = this.#changing.then(() => this.#change(next));
    this.#changing = changed.catch(() => {});
    return changed;
  }

  close(): void {
    this.#connection.close();
  }

  async #change(next: (before: FullNetworkRules) => NetworkRules): Promise<void> {
    for (let count = 0; count < tries; count++) {
      const before = this.rules();
      const rules = networkRulesSchema.parse(next(this.rules()));
      const { error, instead } = await this.#send({ change: ++this.#count, before, rules });
      if (error !== undefined)
        throw new WorkcellError(error.code as ConstructorParameters<typeof WorkcellError>[0], error.message);
      if (instead === undefined) return;
      this.#rules = instead;
    }
    throw new WorkcellError('internal', 'The network rules of the cell change all the time. Try again.');
  }

  async #send(message: Extract<ToGateway, { change: number }>): Promise<Outcome> {
    if (this.#ended) throw gone();
    this.#connection.ref();
    try {
      return await new Promise<Outcome>((resolve) => {
        this.#changes.set(message.change, resolve);
        this.#connection.say(message);
      });
    } finally {
      this.#changes.delete(message.change);
      this.#connection.unref();
    }
  }

  async #follow(): Promise<void> {
    for (let line = await this.#connection.next(); line !== undefined; line = await this.#connection.next()) {
      const message = read(line);
      if (message === undefined) break;
      if ('stats' in message) {
        const { record, rules = this.#rules, stats } = message;
        this.#rules = rules;
        this.#stats = stats;
        if (record !== undefined && this.#listener === undefined) this.#unheard.push(record);
        else if (record !== undefined) this.#listener?.(record);
      } else if ('question' in message) void this.#answer(message);
      else if ('wanted' in message) void this.#give(message);
      else if ('withdrawn' in message) this.#questions.get(message.withdrawn)?.abort();
      else this.#changes.get(message.changed)?.(message);
    }
    this.#ended = true;
    this.#connection.close();
    for (const question of this.#questions.values()) question.abort();
    const { code, message } = gone();
    for (const settle of this.#changes.values()) settle({ error: { code, message } });
  }

  async #answer({ question, host, port }: { question: number; host: string; port: number }): Promise<void> {
    const stop = new AbortController();
    this.#questions.set(question, stop);
    const word = await this.#asked({ host, port }, stop.signal);
    this.#questions.delete(question);
    this.#connection.say({ answer: question, ...(word !== undefined && { word }) });
  }

  /** A secret of the same name that is for other hosts is not meant. */
  async #give({ wanted, secret }: { wanted: number; secret: BoundSecret }): Promise<void> {
    const { name, hosts, body = false } = secret;
    const own = this.#secrets.find(
      (one) => one.name === name && (one.body ?? false) === body && isDeepStrictEqual([...one.hosts], hosts),
    );
    const value = await own?.value().catch(() => undefined);
    this.#connection.say({ wanted, ...(value !== undefined && { value }) });
  }

  /** Undefined where nobody answers. */
  async #asked(question: { host: string; port: number }, signal: AbortSignal): Promise<string | undefined> {
    try {
      return await this.#asker?.(question, signal);
    } catch {
      return undefined;
    }
  }
}

function read(line: string | undefined) {
  try {
    return fromGatewaySchema.parse(JSON.parse(line ?? ''));
  } catch {
    return undefined;
  }
}

function gone(): WorkcellError {
  return new WorkcellError(
    'runtime-disconnected',
    'The keeper of the cell is gone, and its network with it. Start a new cell.',
  );
}
