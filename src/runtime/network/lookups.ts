/**
 * Looks names up for one cell. Lookups take threads that all cells and all files of this process share, and whoever
 * answers for a name decides how long one takes. So a cell has one at a time, and cells take turns.
 */
import { lookup } from 'node:dns/promises';
import { type IpAddress, parseAddress } from '../../protocol/network/address.js';

/** Empty when the name does not exist. Fails when the resolver cannot tell. */
export type Ask = (name: string) => Promise<IpAddress[]>;

/** Programs ask for the same name many times in a row. */
const rememberedMs = 10_000;
const mostRemembered = 1000;
const mostWaiting = 256;

/** Of all cells together. */
const atOnce = 2;
let running = 0;
/** Cells with lookups that wait; the first one is next. */
const turns: Lookups[] = [];

export class Lookups {
  readonly #ask: Ask;
  readonly #remembered = new Map<string, { until: number; addresses: Promise<IpAddress[]> }>();
  readonly #waiting: (() => Promise<void>)[] = [];

  constructor(ask: Ask = askSystem) {
    this.#ask = ask;
  }

  find(name: string): Promise<IpAddress[]> {
    const known = this.#remembered.get(name);
    if (known !== undefined && known.until > performance.now()) return known.addresses;
    this.#remembered.delete(name);
    if (this.#waiting.length >= mostWaiting)
      return Promise.reject(new Error(`${mostWaiting} names of this cell wait to be looked up`));
    const addresses = this.#enqueue(name);
    this.#remembered.set(name, { until: performance.now() + rememberedMs, addresses });
    if (this.#remembered.size > mostRemembered)
      this.#remembered.delete(this.#remembered.keys().next().value ?? '');
    // Do not remember a failure: the next question may succeed.
    addresses.then(
      (found) => found.length === 0 && this.#remembered.delete(name),
      () => this.#remembered.delete(name),
    );
    return addresses;
  }

  #enqueue(name: string): Promise<IpAddress[]> {
    return new Promise((resolve, reject) => {
      const isIdle = this.#waiting.push(() => this.#ask(name).then(resolve, reject)) === 1;
      if (isIdle && !this.#isRunning) turns.push(this);
      startNext();
    });
  }

  #isRunning = false;

  async runOne(): Promise<void> {
    this.#isRunning = true;
    await this.#waiting.shift()?.();
    this.#isRunning = false;
    // Go behind all other waiting cells.
    if (this.#waiting.length > 0) turns.push(this);
  }
}

function startNext(): void {
  while (running < atOnce) {
    const next = turns.shift();
    if (next === undefined) return;
    running++;
    void next.runOne().finally(() => {
      running--;
      startNext();
    });
  }
}

async function askSystem(name: string): Promise<IpAddress[]> {
  try {
    const found = await lookup(name, { all: true });
    return found.map(({ address }) => parseAddress(address)).filter((address) => address !== undefined);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTFOUND') return [];
    throw error;
  }
}
