/** When the workspace was last used, which orchestrators ask for to find idle sandboxes. */
export class Activity {
  readonly #startedAt = performance.now();
  #usedAt = performance.now();

  touch(): void {
    this.#usedAt = performance.now();
  }

  get uptimeSeconds(): number {
    return Math.floor((performance.now() - this.#startedAt) / 1000);
  }

  get idleSeconds(): number {
    return Math.floor((performance.now() - this.#usedAt) / 1000);
  }
}
