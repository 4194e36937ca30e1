/** Lets readers wait for something new. */
export class Wakers {
  readonly #waiting = new Set<() => void>();

  /** Resolves at the next `wake`, after a time, or when the signal aborts. */
  wait(timeoutMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, timeoutMs);
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
      if (signal.aborted) wake();
    });
  }

  wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}
