/**
 * The gateway of a held cell. It goes on while no process works in the cell: then it asks nobody, and keeps what happens for
 * the record of the next one.
 */
import type { Socket } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { startError } from '../../../cell/server/start-error.js';
import type { CellNetwork, NetworkAnswer, NetworkQuestion, NetworkRecord } from '../../../protocol/index.js';
import type { BoundSecret } from './keeper-messages.js';
import { eachLine, sayLine } from './lines.js';
import { type FromGateway, toGatewaySchema } from './network-messages.js';

/** What an owner that is away misses at most; of the rest it learns how many there were. */
const mostMissed = 1000;
/** An owner that does not read gets no more. */
const mostUnsent = 8 * 1024 * 1024;

/** Values of secrets that requests wait for at one time, and how long; the owner may be halted. */
const mostWanted = 256;
const valueMs = 30_000;

/** The rules are others than those that a change was made from. */
class Stale extends Error {}

export class HeldNetwork {
  readonly #gateway: CellNetwork;
  #owner: Socket | undefined;
  readonly #missed: NetworkRecord[] = [];
  #dropped = 0;
  #questions = 0;
  readonly #answers = new Map<number, (word: string | undefined) => void>();
  readonly #values = new Map<number, (value: string | undefined) => void>();

  constructor(gateway: CellNetwork) {
    this.#gateway = gateway;
    gateway.listen((record) => this.#record(record));
  }

  /** Only who holds the lease of the cell connects, so an earlier connection is a dead owner's. */
  serve(socket: Socket): void {
    this.#owner?.destroy();
    this.#settleAnswers();
    this.#owner = socket;
    this.#say({ rules: this.#gateway.rules(), stats: this.#gateway.stats() });
    for (const record of this.#missed.splice(0)) this.#record(record);
    this.#gateway.answerWith((question, signal) => this.#ask(question, signal));
    eachLine(socket, (line) => void this.#take(line, socket));
    socket.once('close', () => {
      if (this.#owner !== socket) return;
      this.#owner = undefined;
      this.#gateway.answerWith(undefined);
      this.#settleAnswers();
    });
  }

  /** For a cell that has ended. */
  close(): void {
    this.#owner?.end();
  }

  /** Only the owner has it: the value is here for as long as its request is written, and nowhere while nobody owns the cell. */
  async valueOf(secret: BoundSecret): Promise<string | undefined> {
    const owner = this.#owner;
    if (owner === undefined || owner.writableLength > mostUnsent || this.#values.size >= mostWanted)
      return undefined;
    const wanted = ++this.#questions;
    let timer: NodeJS.Timeout | undefined;
    const value = await new Promise<string | undefined>((resolve) => {
      this.#values.set(wanted, resolve);
      timer = setTimeout(() => resolve(undefined), valueMs);
      this.#say({ wanted, secret });
    });
    clearTimeout(timer);
    this.#values.delete(wanted);
    return value;
  }

  #settleAnswers(): void {
    for (const settle of [...this.#answers.values(), ...this.#values.values()]) settle(undefined);
  }

  #say(message: FromGateway): void {
    if (this.#owner !== undefined) sayLine(this.#owner, message);
  }

  #record(given: NetworkRecord): void {
    // Only the owner, or an answer of its own, changes the rules.
    const isChange = given.outcome === 'changed';
    const isHeard = this.#owner !== undefined && (isChange || this.#owner.writableLength < mostUnsent);
    if (!isHeard && (this.#owner !== undefined || this.#missed.length >= mostMissed)) {
      this.#dropped++;
      return;
    }
    let record = given;
    if (isHeard && this.#dropped > 0 && record.outcome !== 'changed') {
      record = { ...record, unrecorded: (record.unrecorded ?? 0) + this.#dropped };
      this.#dropped = 0;
    }
    const stats = this.#gateway.stats();
    if (isHeard) this.#say({ record, stats, ...(isChange && { rules: this.#gateway.rules() }) });
    else this.#missed.push(record);
  }

  async #ask({ host, port }: NetworkQuestion, signal: AbortSignal): Promise<NetworkAnswer> {
    const question = ++this.#questions;
    const withdraw = () => this.#answers.get(question)?.(undefined);
    signal.addEventListener('abort', withdraw, { once: true });
    const word = await new Promise<string | undefined>((resolve) => {
      this.#answers.set(question, resolve);
      this.#say({ question, host, port });
    });
    signal.removeEventListener('abort', withdraw);
    this.#answers.delete(question);
    if (signal.aborted) this.#say({ withdrawn: question });
    if (word === undefined) throw new Error('nobody answered');
    // The gateway takes only the words that it knows.
    return word as NetworkAnswer;
  }

  async #take(line: unknown, socket: Socket): Promise<void> {
    // What a dead owner still had to say, or to hear, is nothing for the next one.
    if (this.#owner !== socket) return;
    const { data } = toGatewaySchema.safeParse(line);
    if (data === undefined) return void socket.destroy();
    if ('wanted' in data) return this.#values.get(data.wanted)?.(data.value);
    if ('answer' in data) return this.#answers.get(data.answer)?.(data.word);
    const { change, before, rules } = data;
    try {
      await this.#gateway.change((current) => {
        if (!isDeepStrictEqual(JSON.parse(JSON.stringify(current)), before)) throw new Stale();
        return rules;
      });
      sayLine(socket, { changed: change } satisfies FromGateway);
    } catch (error) {
      const why = error instanceof Stale ? { instead: this.#gateway.rules() } : { error: startError(error) };
      sayLine(socket, { changed: change, ...why } satisfies FromGateway);
    }
  }
}
