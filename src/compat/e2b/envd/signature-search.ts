/**
 * Finds the sandbox whose token signed an address that names none. Anybody may ask, and the answer takes a hash for each token
 * of each sandbox: all who ask share so many hashes a second, and nobody waits while one search goes on.
 */
import { setImmediate } from 'node:timers/promises';
import { Rate } from '../../../base/http/rate.js';
import { WorkcellError } from '../../../protocol/index.js';
import type { Sandbox } from '../e2b-sandbox.js';
import { type FileOperation, type FileQuery, isSignedBy, looksSigned } from '../sandbox-access.js';

/** About a tenth of a processor. */
const hashesPerSecond = 50_000;
const hashesAtOnce = 100_000;

/** How many hashes hold up other requests: about two milliseconds of work. */
const hashesInARow = 1000;

/** Addresses are used again; those of the last ones need no search. */
const mostKnown = 1000;

export class SignatureSearch {
  readonly #all: () => readonly Sandbox[];
  readonly #rate = new Rate(hashesPerSecond, hashesAtOnce);
  /** The id of the sandbox, by what was asked. Whoever uses it checks the signature anew: its key may have ended. */
  readonly #known = new Map<string, string>();

  constructor(all: () => readonly Sandbox[]) {
    this.#all = all;
  }

  async find(query: FileQuery, operation: FileOperation): Promise<Sandbox | undefined> {
    if (!looksSigned(query)) return undefined;
    const all = this.#all().filter(({ facts }) => facts.secure);
    const asked = JSON.stringify([operation, query]);
    const before = all.find(({ record }) => record.id === this.#known.get(asked));
    if (before !== undefined) return before;
    this.#pay(all.reduce((sum, { tokens }) => sum + tokens.size, 0));
    let hashes = 0;
    for (const sandbox of all) {
      for (const { access } of sandbox.tokens.values()) {
        if (isSignedBy(query, operation, access)) return this.#remember(asked, sandbox);
        if (++hashes % hashesInARow === 0) await setImmediate();
      }
    }
    return undefined;
  }

  #pay(cost: number): void {
    if (this.#rate.take(cost)) return;
    throw new WorkcellError('rate-limited', 'Too many signed addresses at once; wait a moment.', {
      details: { retryAfterMs: Math.ceil(this.#rate.waitMs(cost)) },
    });
  }

  #remember(asked: string, sandbox: Sandbox): Sandbox {
    const [oldest] = this.#known.keys();
    if (this.#known.size >= mostKnown && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(asked, sandbox.record.id);
    return sandbox;
  }
}
