/** Pages that other pages open: the browser reports them before anybody can work with them. */
import type { CDPSession } from 'playwright-core';
import { within } from './bounds.js';

export class Popups {
  readonly #coming = new Set<string>();
  #wake: (() => void) | undefined;

  static async follow(control: CDPSession): Promise<Popups> {
    const popups = new Popups();
    control.on('Target.targetCreated', ({ targetInfo: { targetId, type, openerId } }) => {
      if (type === 'page' && openerId !== undefined) popups.#coming.add(targetId);
    });
    control.on('Target.targetDestroyed', ({ targetId }) => popups.arrived(targetId));
    await control.send('Target.setDiscoverTargets', { discover: true });
    // Ignore pages that existed before.
    popups.#coming.clear();
    return popups;
  }

  /** The page is ready for use, or never will be. */
  arrived(targetId: string): void {
    if (this.#coming.delete(targetId) && this.#coming.size === 0) this.#wake?.();
  }

  /** Waits for those that are on their way. */
  async settle(ms: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#coming.size === 0) return;
    const arrival = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    await within(arrival, { ms, what: 'Opening a page', signal }).catch((error) => {
      if ((error as { code?: unknown }).code === 'cancelled') throw error;
      this.#coming.clear();
    });
  }
}
