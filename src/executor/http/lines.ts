import { WorkcellError } from '../../protocol/index.js';

/** Puts lines together from pieces, across connections: the next one goes on at `position`, even within a line. */
export class Lines {
  readonly #limitBytes: number;
  #pieces: Buffer[] = [];
  #length = 0;
  #position = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Bytes that were taken so far. Empty lines only show that the server is alive and do not count. */
  get position(): number {
    return this.#position;
  }

  /** The lines that a piece completes. To be read to the end before the next piece. */
  *take(chunk: Buffer): Generator<Buffer> {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const rest = chunk.subarray(start, end);
      start = end + 1;
      if (this.#length === 0 && rest.length === 0) continue;
      const line = this.#length === 0 ? rest : Buffer.concat([...this.#pieces, rest]);
      this.#position += rest.length + 1;
      this.#pieces = [];
      this.#length = 0;
      yield line;
    }
    if (start === chunk.length) return;
    this.#pieces.push(chunk.subarray(start));
    this.#length += chunk.length - start;
    this.#position += chunk.length - start;
    if (this.#length > this.#limitBytes) {
      throw new WorkcellError(
        'file-too-large',
        `The server answered with more than ${this.#limitBytes} bytes at once, which is the limit.`,
        { details: { limitBytes: this.#limitBytes } },
      );
    }
  }
}

const newline = 0x0a;

/** A whole body as text, at most so long. */
export async function readText(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    pieces.push(piece);
    length += piece.length;
    if (length > limitBytes)
      throw new WorkcellError('file-too-large', `The server answered with more than ${limitBytes} bytes.`);
  }
  return Buffer.concat(pieces).toString('utf8');
}
