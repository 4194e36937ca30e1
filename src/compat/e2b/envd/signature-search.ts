/**
 * Finds the sandbox whose token signed an address that names none. Anybody may ask, and the answer takes a hash for each token
 * of each sandbox: all who ask share so many hashes a second, each of them has a part of these, and nobody waits while one search
 * goes on.
 */
import { setImmediate } from 'node:timers/promises';
import { Rate } from '../../../base/http/rate.js';
import { WorkcellError } from '../../../protocol/index.js';
import type { Sandbox } from '../e2b-sandbox.js';
import { type FileOperation, type FileQuery, isSignedBy, looksSigned } from '../sandbox-access.js';

/** About a tenth of a processor. */
const hashesPerSecond = 50_000;
const hashesAtOnce = 100_000;

/** What those of one address may have of that, and how many addresses to remember. */
const partOfSource = 1 / 8;
const mostSources = 10_000;

/** How many hashes hold up other requests: about two milliseconds of work. */
const hashesInARow = 1000;

/** Addresses are used again; those of the last ones need no search. */
const mostKnown = 1000;

export class SignatureSearch {
  readonly #all: () => readonly Sandbox[];
  readonly #rate = new Rate(hashesPerSecond, hashesAtOnce);
  readonly #sources = new Map<string, Rate>();
  /** The id of the sandbox, by what was asked. Whoever uses it checks the signature anew: its key may have ended. */
  readonly #known = new Map<string, string>();

  constructor(all: () => readonly Sandbox[]) {
    this.#all = all;
  }

  async find(query: FileQuery, operation: FileOperation, source: string): Promise<Sandbox | undefined> {
    if (!looksSigned(query)) return undefined;
    const all = this.#all().filter(({ facts }) => facts.secure);
    const asked = JSON.stringify([operation, query]);
    const before = all.find(({ record }) => record.id === this.#known.get(asked));
    if (before !== undefined) return before;
    const cost = all.reduce((sum, { tokens }) => sum + tokens.size, 0);
    // Those who are refused here take nothing from the others.
    pay(this.#rateOf(source), cost);
    pay(this.#rate, cost);
    let hashes = 0;
    for (const sandbox of all) {
      for (const { access } of sandbox.tokens.values()) {
        if (isSignedBy(query, operation, access)) return this.#remember(asked, sandbox);
        if (++hashes % hashesInARow === 0) await setImmediate();
      }
    }
    return undefined;
  }

  #rateOf(source: string): Rate {
    const name = networkOf(source);
    const rate =
      this.#sources.get(name) ?? new Rate(hashesPerSecond * partOfSource, hashesAtOnce * partOfSource);
    // Those that came last stand last.
    this.#sources.delete(name);
    this.#sources.set(name, rate);
    const [oldest] = this.#sources.keys();
    if (this.#sources.size > mostSources && oldest !== undefined) this.#sources.delete(oldest);
    return rate;
  }

  #remember(asked: string, sandbox: Sandbox): Sandbox {
    const [oldest] = this.#known.keys();
    if (this.#known.size >= mostKnown && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(asked, sandbox.record.id);
    return sandbox;
  }
}

function pay(rate: Rate, cost: number): void {
  if (rate.take(cost)) return;
  throw new WorkcellError('rate-limited', 'Too many signed addresses at once; wait a moment.', {
    details: { retryAfterMs: Math.ceil(rate.waitMs(cost)) },
  });
}

/** Whoever has one address of IPv6 has all that begin with the same four groups. */
function networkOf(source: string): string {
  if (!source.includes(':') || source.includes('.')) return source.replace(/^::ffff:/i, '');
  const [head = '', tail] = source.split('%')[0]?.split('::') ?? [];
  const groups = head.split(':').filter((group) => group !== '');
  const last = tail?.split(':').filter((group) => group !== '') ?? [];
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - last.length) }, () => '0');
  return [...groups, ...zeros, ...last].slice(0, 4).join(':');
}
