/**
 * Types into a terminal. Node's own stream writes to a terminal in a loop that nothing interrupts until the terminal
 * has taken everything, so a program that does not read would stop this whole process.
 */
import { writeSync } from 'node:fs';

/** There is no event for room in a terminal: look again after this time, then less and less often. */
const firstRetryMs = 1;
const longestRetryMs = 100;

export class Keyboard {
  readonly #descriptor: number;
  readonly #isOpen: () => boolean;
  readonly #waiting: { data: Buffer; taken(): void }[] = [];
  #retryMs = firstRetryMs;
  #timer: NodeJS.Timeout | undefined;

  /**
   * `isOpen` says whether the descriptor still belongs to the terminal; after a close the system may reuse the
   * number.
   */
  constructor(descriptor: number, isOpen: () => boolean) {
    this.#descriptor = descriptor;
    this.#isOpen = isOpen;
  }

  /** Settles, and never fails, when the terminal has taken all of it or takes nothing more. */
  type(data: string | Buffer): Promise<void> {
    return new Promise((taken) => {
      this.#waiting.push({ data: Buffer.from(data as string), taken });
      if (this.#waiting.length === 1) this.tryNow();
    });
  }

  /** Call it when there might be room: a program that prints often does so because it has read. */
  tryNow(): void {
    clearTimeout(this.#timer);
    if (!this.#isOpen()) this.giveUp();
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const length = this.#write(next.data);
      if (length === undefined) return;
      if (length < next.data.length) next.data = next.data.subarray(length);
      else this.#waiting.shift()?.taken();
    }
  }

  /** Drops text that the terminal has not taken. */
  giveUp(): void {
    clearTimeout(this.#timer);
    for (const { taken } of this.#waiting.splice(0)) taken();
  }

  /** How much the terminal took; undefined when it took nothing. */
  #write(data: Buffer): number | undefined {
    try {
      const length = writeSync(this.#descriptor, data);
      this.#retryMs = firstRetryMs;
      return length;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') this.giveUp();
      else {
        this.#timer = setTimeout(() => this.tryNow(), this.#retryMs).unref();
        this.#retryMs = Math.min(longestRetryMs, this.#retryMs * 2);
      }
      return undefined;
    }
  }
}
