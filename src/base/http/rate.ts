/** A token bucket: this many requests a second, and this many at once before that. */
export class Rate {
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #at = performance.now();

  constructor(perSecond: number, burst: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#tokens = burst;
  }

  /** Takes one token, or as many as something costs, and all of them for what costs more; false when there are fewer. */
  take(cost = 1): boolean {
    const wanted = Math.min(cost, this.#burst);
    if (this.#tokens < wanted) this.#refill();
    if (this.#tokens < wanted) return false;
    this.#tokens -= wanted;
    return true;
  }

  /** How long until it gives that many, if nobody takes any meanwhile. */
  waitMs(cost = 1): number {
    this.#refill();
    return Math.max(0, ((Math.min(cost, this.#burst) - this.#tokens) / this.#perSecond) * 1000);
  }

  #refill(): void {
    const now = performance.now();
    this.#tokens = Math.min(this.#burst, this.#tokens + ((now - this.#at) / 1000) * this.#perSecond);
    this.#at = now;
  }
}
