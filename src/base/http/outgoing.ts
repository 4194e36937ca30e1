/** Writes to a response no faster than its reader takes it. */
import type { ServerResponse } from 'node:http';

export class Outgoing {
  readonly #response: ServerResponse;
  readonly #gone = new AbortController();

  constructor(response: ServerResponse) {
    this.#response = response;
    response.once('close', () => this.#gone.abort());
    // Nobody else listens on an answer that left the framework, and an error without a listener ends the process.
    response.on('error', () => this.#gone.abort());
    if (response.destroyed || response.socket?.destroyed) this.#gone.abort();
  }

  /** Aborts when the reader is no longer there. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Settles when there is room for more, or when the reader has left. */
  async write(chunk: Buffer | string): Promise<void> {
    // A sign of life may be due while the last bytes are still on their way.
    if (this.gone.aborted || this.#response.writableEnded || this.#response.write(chunk)) return;
    await this.#until('drain');
  }

  /** Settles when the system has taken the last byte, or when the reader has left. */
  async end(chunk?: Buffer | string): Promise<void> {
    if (this.gone.aborted) return;
    if (chunk === undefined) this.#response.end();
    else this.#response.end(chunk);
    if (!this.#response.writableFinished) await this.#until('finish');
  }

  #until(event: 'drain' | 'finish'): Promise<void> {
    return new Promise((resolve) => {
      const settle = () => {
        this.#response.off(event, settle);
        this.gone.removeEventListener('abort', settle);
        resolve();
      };
      this.#response.once(event, settle);
      this.gone.addEventListener('abort', settle, { once: true });
    });
  }
}
