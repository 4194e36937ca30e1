/** A start that is quicker than this shows nothing. */
const patienceMs = 300;

/** One line on a terminal that tells what a slow start is doing; it disappears when the start is over. */
export class Progress {
  readonly #stream: NodeJS.WriteStream;
  #message = 'Starting';
  #visible = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream;
    if (!stream.isTTY) return;
    this.#timer = setTimeout(() => {
      this.#visible = true;
      this.#draw();
    }, patienceMs);
  }

  show(message: string): void {
    if (message === this.#message) return;
    this.#message = message;
    if (this.#visible) this.#draw();
  }

  end(): void {
    clearTimeout(this.#timer);
    if (this.#visible) this.#stream.write('\r\x1b[K');
    this.#visible = false;
  }

  #draw(): void {
    const width = Math.max(10, (this.#stream.columns ?? 80) - 1);
    this.#stream.write(`\r\x1b[K\x1b[2m${this.#message.slice(0, width)}\x1b[0m`);
  }
}
