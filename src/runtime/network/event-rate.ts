/** Keeps a cell from filling the record: it can collect refusals faster than anybody could read about them. */
import type { NetworkEvent } from '../../protocol/network/network-schema.js';

const burst = 200;
const perSecond = 50;

export class EventRate {
  /** One for each outcome, so that a flood of one hides none of the others. */
  readonly #buckets = new Map<NetworkEvent['outcome'], Bucket>();

  /** The event, with the number of unrecorded ones like it before; undefined when there are too many. */
  pass(event: NetworkEvent): NetworkEvent | undefined {
    // The record always has connections that reached a server; `connectionsPerSecond` limits them.
    if (event.outcome === 'opened' || event.outcome === 'closed') return event;
    const bucket = this.#buckets.get(event.outcome) ?? new Bucket();
    this.#buckets.set(event.outcome, bucket);
    return bucket.pass(event);
  }
}

class Bucket {
  #tokens = burst;
  #at = performance.now();
  #unrecorded = 0;

  pass(event: NetworkEvent): NetworkEvent | undefined {
    const now = performance.now();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#at) / 1000) * perSecond);
    this.#at = now;
    if (this.#tokens < 1) {
      this.#unrecorded++;
      return undefined;
    }
    this.#tokens--;
    if (this.#unrecorded === 0) return event;
    const unrecorded = this.#unrecorded;
    this.#unrecorded = 0;
    return { ...event, unrecorded };
  }
}
