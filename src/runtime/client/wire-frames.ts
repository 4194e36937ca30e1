/** Joins pieces into messages, across connections: the next one continues at `position`, even within a message. */
import { parseUntrustedJson } from '../../base/untrusted-json.js';
import { WorkcellError } from '../../protocol/index.js';

/** One parsed line, with the text that followed it in the field where the line would have it. */
export type Message = { observation: unknown } | { error: unknown } | { progress?: unknown };

const newline = 0x0a;

/** The longest list of files has about as many values. */
const mostValues = 1_600_000;
const deepest = 1024;

export class Frames {
  readonly #limitBytes: number;
  #pieces: Buffer[] = [];
  #length = 0;
  #position = 0;
  /** The line whose text has not arrived in full. */
  #open: { progress: Record<string, unknown>; textBytes: number } | undefined;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Bytes taken so far. Empty lines only show that the server is alive and do not count. */
  get position(): number {
    return this.#position;
  }

  /** The messages that a piece completes. Read all of them before the next piece. */
  *take(chunk: Buffer): Generator<Message> {
    let start = 0;
    while (start < chunk.length) {
      const end =
        this.#open === undefined ? chunk.indexOf(newline, start) : this.#textEnd(start, chunk.length);
      if (end === -1) return this.#keep(chunk.subarray(start));
      const rest = chunk.subarray(start, end);
      if (this.#open === undefined) {
        start = end + 1;
        if (this.#length === 0 && rest.length === 0) continue;
        this.#position++;
      } else start = end;
      const whole = this.#complete(rest);
      const message = this.#open === undefined ? this.#begin(whole) : this.#finish(whole);
      if (message !== undefined) yield message;
    }
  }

  #textEnd(start: number, length: number): number {
    const end = start + (this.#open?.textBytes ?? 0) - this.#length;
    return end <= length ? end : -1;
  }

  #keep(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
    this.#position += piece.length;
    if (this.#length <= this.#limitBytes) return;
    throw tooLarge(this.#limitBytes);
  }

  #complete(rest: Buffer): Buffer {
    this.#position += rest.length;
    const whole = this.#length === 0 ? rest : Buffer.concat([...this.#pieces, rest]);
    this.#pieces = [];
    this.#length = 0;
    return whole;
  }

  #begin(line: Buffer): Message | undefined {
    const message = parseLine(line, this.#limitBytes);
    if (!('textBytes' in message)) return message;
    const { progress, textBytes } = message as { progress?: unknown; textBytes: unknown };
    const fits = Number.isSafeInteger(textBytes) && (textBytes as number) >= 0;
    if (!fits || typeof progress !== 'object' || progress === null)
      throw new WorkcellError('internal', 'The server sent a line that does not fit what follows it.');
    if ((textBytes as number) > this.#limitBytes) throw tooLarge(this.#limitBytes);
    if (textBytes === 0) return { progress: { ...progress, text: '' } };
    this.#open = { progress: progress as Record<string, unknown>, textBytes: textBytes as number };
    return undefined;
  }

  #finish(text: Buffer): Message {
    const progress = { ...this.#open?.progress, text: text.toString('utf8') };
    this.#open = undefined;
    return { progress };
  }
}

function parseLine(line: Buffer, limitBytes: number): Message {
  try {
    const message = parseUntrustedJson(line, { bytes: limitBytes, values: mostValues, depth: deepest });
    return typeof message === 'object' && message !== null ? message : {};
  } catch (cause) {
    if (cause instanceof RangeError)
      throw new WorkcellError(
        'file-too-large',
        `The server sent a line that this client refuses. ${cause.message}`,
      );
    throw new WorkcellError('internal', 'The server sent a line that is not JSON.', { cause });
  }
}

function tooLarge(limitBytes: number): WorkcellError {
  return new WorkcellError(
    'file-too-large',
    `The server answered with more than ${limitBytes} bytes at once, which is the limit.`,
    { details: { limitBytes } },
  );
}
