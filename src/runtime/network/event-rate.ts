/** Keeps a cell from filling the record: it can make connections faster than anybody could read about them. */
import type { NetworkEvent } from '../../protocol/network/network-schema.js';

const burst = 200;
const perSecond = 50;

export class EventRate {
  #tokens = burst;
  #at = performance.now();
  #unrecorded = 0;

  /** The event, with how many went before it unrecorded; undefined when there are too many. */
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
