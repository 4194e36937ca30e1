import type { WorkcellEvent } from '../../protocol/index.js';
import { bodyOf } from './event-filter.js';

/** How much to hold; beyond twice one of these it drops the oldest. */
export interface Bounds {
  readonly events: number;
  readonly characters: number;
}

/** The newest events of one runtime, ids without gaps. */
export class Recent {
  #events: WorkcellEvent[] = [];
  #characters = 0;

  get events(): readonly WorkcellEvent[] {
    return this.#events;
  }

  get characters(): number {
    return this.#characters;
  }

  push(event: WorkcellEvent): void {
    this.#events.push(event);
    this.#characters += weight(event);
  }

  /** Where the events after an id begin. */
  indexAfter(id: number): number {
    return Math.max(0, id + 1 - (this.#events[0]?.id ?? 1));
  }

  exceeds({ events, characters }: Bounds): boolean {
    // Cutting rarely and by many keeps the cost of each event constant.
    return this.#events.length >= 2 * events || this.#characters > 2 * characters;
  }

  /** Drops the oldest, the last one and those after `upTo` excepted, until the bounds hold. */
  cut(bounds: Bounds, upTo = Number.POSITIVE_INFINITY): void {
    let count = 0;
    let characters = this.#characters;
    for (const event of this.#events.slice(0, -1)) {
      const fits = this.#events.length - count <= bounds.events && characters <= bounds.characters;
      if (fits || event.id > upTo) break;
      characters -= weight(event);
      count++;
    }
    this.drop(count);
  }

  /** Removes the first ones. Returns how many characters they had. */
  drop(count: number): number {
    const gone = this.#events.slice(0, count).reduce((sum, event) => sum + weight(event), 0);
    this.#events = this.#events.slice(count);
    this.#characters -= gone;
    return gone;
  }
}

/** How much text an event carries, in the fields that can be long. */
function weight(event: WorkcellEvent): number {
  let sum = 0;
  for (const value of Object.values(bodyOf(event) as object))
    if (typeof value === 'string') sum += value.length;
  return sum;
}
