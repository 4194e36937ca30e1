/** Messages on a byte stream: JSON after its length in four bytes. */
import { parseUntrustedJson } from '../../../base/untrusted-json.js';
import { deepestResult, mostValues } from './tool-limits.js';

export function frame(message: unknown): Buffer {
  const text = JSON.stringify(message);
  const length = Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafe(4 + length);
  bytes.writeUInt32BE(length);
  bytes.write(text, 4, 'utf8');
  return bytes;
}

/** Results nest at most this deep, and a message has a few levels more. */
const deepestMessage = deepestResult + 8;

/** Assembles messages. Keeps nothing of a message that announces more than the limit. */
export class FrameReader {
  readonly #limitBytes: number;
  #chunks: Buffer[] = [];
  #held = 0;
  #wanted = 4;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** The messages that this chunk completes. Throws for bytes that are no message. */
  *read(chunk: Buffer): Generator<unknown> {
    this.#chunks.push(chunk);
    this.#held += chunk.length;
    if (this.#held < this.#wanted) return;
    let data = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#held);
    this.#chunks = [];
    this.#held = 0;
    this.#wanted = 4;
    while (data.length >= 4) {
      const length = data.readUInt32BE(0);
      if (length > this.#limitBytes) throw new Error(`A message of ${length} bytes is too long.`);
      if (data.length < 4 + length) {
        this.#wanted = 4 + length;
        break;
      }
      const bounds = { bytes: this.#limitBytes, values: mostValues, depth: deepestMessage };
      yield parseUntrustedJson(data.subarray(4, 4 + length), bounds);
      data = data.subarray(4 + length);
    }
    if (data.length > 0) {
      this.#chunks = [data];
      this.#held = data.length;
    }
  }
}
