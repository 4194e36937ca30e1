/** Questions about hosts that no rule is on. The connection waits for the answer, within a limit. */
import type { NetworkAnswer, NetworkAsker, NetworkQuestion } from '../../protocol/cell.js';
import { hostAnswerMs } from '../../protocol/network/network-schema.js';

/** A cell can want any number of hosts, and no person answers that many. */
const mostOpen = 16;

export type Answered = NetworkAnswer | 'timeout' | 'nobody' | 'too-many';

/** Why a connection is refused after a question. */
export const unanswered = {
  deny: 'it was asked about and denied',
  timeout: 'nobody answered the question about it in time',
  nobody: 'no rule allows this host, and nobody is there to ask',
  'too-many': 'too many questions are open',
} as const;

/** Others refuse. */
const words: ReadonlySet<Answered> = new Set(['once', 'cell', 'always', 'timeout']);

export class Questions {
  #asker: NetworkAsker | undefined;
  readonly #open = new Map<string, Promise<Answered>>();
  /** Do not ask again about denied ones until the rules change. */
  readonly #denied = new Set<string>();
  readonly #ended = new AbortController();

  setAsker(asker: NetworkAsker | undefined): void {
    this.#asker = asker;
  }

  /**
   * While a question is open, asks it only once. `granted`: what was allowed for this one connection, to which the answer
   * `once` adds the host. Every other connection that waits for that answer asks anew.
   */
  ask(question: NetworkQuestion, granted: Set<string>): Promise<Answered> {
    const key = `${question.host}:${question.port}`;
    if (granted.has(key)) return Promise.resolve('once');
    const asker = this.#asker;
    if (asker === undefined) return Promise.resolve('nobody');
    if (this.#denied.has(key)) return Promise.resolve('deny');
    const open = this.#open.get(key);
    if (open !== undefined)
      return open.then((answer) => (answer === 'once' ? this.ask(question, granted) : answer));
    if (this.#open.size >= mostOpen) return Promise.resolve('too-many');
    const answered = this.#answer(asker, question).finally(() => this.#open.delete(key));
    this.#open.set(key, answered);
    void answered.then((answer) => {
      if (answer === 'once') granted.add(key);
      if (answer === 'deny' && this.#denied.size < 1000) this.#denied.add(key);
    });
    return answered;
  }

  /** Allows asking again about denied hosts. */
  forget(): void {
    this.#denied.clear();
  }

  close(): void {
    this.#ended.abort();
  }

  async #answer(asker: NetworkAsker, question: NetworkQuestion): Promise<Answered> {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), hostAnswerMs);
    const signal = AbortSignal.any([timeout.signal, this.#ended.signal]);
    const given = new Promise<'timeout'>((resolve) => {
      signal.addEventListener('abort', () => resolve('timeout'), { once: true });
    });
    try {
      const answer = await Promise.race([asker(question, signal), given]);
      return words.has(answer) ? answer : 'deny';
    } catch {
      return 'nobody';
    } finally {
      clearTimeout(timer);
    }
  }
}
