/** Passes a terminal's output on, a piece at a time, to a listener that may need time for each. */
import { StringDecoder } from 'node:string_decoder';
import type { ExecuteContext } from '../../../protocol/index.js';

export interface Source {
  pause(): void;
  resume(): void;
}

export class Listener {
  readonly #onProgress: NonNullable<ExecuteContext['onProgress']>;
  readonly #source: Source;
  readonly #decoder = new StringDecoder('utf8');
  /** Bytes that the decoder holds back because they begin a character. */
  #held = 0;
  #next = 0;
  #waiting: Buffer[] = [];
  #busy: Promise<void> | undefined;

  /** Stops `source` while the listener is behind, so that the program waits for it. */
  constructor(onProgress: NonNullable<ExecuteContext['onProgress']>, source: Source) {
    this.#onProgress = onProgress;
    this.#source = source;
  }

  push(chunk: Buffer, position: number): void {
    if (this.#busy !== undefined) {
      this.#waiting.push(chunk);
      return;
    }
    this.#next = position + chunk.length;
    const sequence = position - this.#held;
    const text = this.#decoder.write(chunk);
    this.#held = this.#next - sequence - Buffer.byteLength(text);
    if (text !== '') this.#deliver(text, sequence);
  }

  /** Settles when the listener has dealt with everything. */
  async drained(): Promise<void> {
    while (this.#busy !== undefined) await this.#busy;
    const rest = this.#decoder.end();
    if (rest !== '')
      await this.#onProgress({
        type: 'output-delta',
        stream: 'terminal',
        text: rest,
        sequence: this.#next - this.#held,
      });
  }

  #deliver(text: string, sequence: number): void {
    const answer = this.#onProgress({ type: 'output-delta', stream: 'terminal', text, sequence });
    if (!(answer instanceof Promise)) return;
    this.#source.pause();
    const proceed = () => {
      this.#busy = undefined;
      const chunk = Buffer.concat(this.#waiting);
      this.#waiting = [];
      if (chunk.length > 0) this.push(chunk, this.#next);
      if (this.#busy === undefined) this.#source.resume();
    };
    this.#busy = answer.then(proceed, proceed);
  }
}
