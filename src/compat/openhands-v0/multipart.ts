/** Reads the file out of a `multipart/form-data` body as it arrives; nothing of it is kept. */
import { HttpError, unreadable } from './http-error.js';
import { transfers } from './messages.js';

export interface FilePart {
  readonly filename: string;
  readonly content: AsyncIterable<Buffer>;
}

const longestHead = 16_384;

/** The part that is a file with the given field name; other parts before it are passed over. */
export async function openFilePart(
  body: AsyncIterable<Buffer>,
  contentType: string | undefined,
  name: string,
): Promise<FilePart> {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType ?? '') ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw unreadable('The body must be multipart/form-data with a boundary.');
  const reader = new Reader(body, Buffer.from(`\r\n--${boundary}`, 'latin1'));
  await drain(reader.untilDelimiter());
  for (;;) {
    const head = await reader.head();
    if (head === undefined) throw unreadable(transfers.noFile);
    const field = parameter(head, 'name');
    const filename = parameter(head, 'filename');
    if (field === name && filename !== undefined) return { filename, content: reader.untilDelimiter() };
    await drain(reader.untilDelimiter());
  }
}

class Reader {
  readonly #source: AsyncIterator<Buffer>;
  readonly #delimiter: Buffer;
  // The first delimiter is a line end short, because nothing is before it.
  #held: Buffer = Buffer.from('\r\n');
  #ended = false;

  constructor(body: AsyncIterable<Buffer>, delimiter: Buffer) {
    this.#source = body[Symbol.asyncIterator]();
    this.#delimiter = delimiter;
  }

  /** What comes before the next delimiter, which is taken, too. */
  async *untilDelimiter(): AsyncGenerator<Buffer> {
    for (;;) {
      const found = this.#held.indexOf(this.#delimiter);
      if (found !== -1) {
        const before = this.#held.subarray(0, found);
        this.#held = this.#held.subarray(found + this.#delimiter.length);
        if (before.length > 0) yield before;
        return;
      }
      // The end of what is held may be the beginning of a delimiter.
      const safe = Math.max(0, this.#held.length - this.#delimiter.length + 1);
      const before = this.#held.subarray(0, safe);
      this.#held = this.#held.subarray(safe);
      if (before.length > 0) yield before;
      await this.#more();
    }
  }

  /** The headers of the part that follows; undefined after the last one. */
  async head(): Promise<string | undefined> {
    while (this.#held.length < 2) await this.#more();
    if (this.#held.subarray(0, 2).toString('latin1') === '--') return undefined;
    for (;;) {
      const end = this.#held.indexOf('\r\n\r\n');
      if (end !== -1) {
        const head = this.#held.subarray(0, end).toString('utf8');
        this.#held = this.#held.subarray(end + 4);
        return head;
      }
      if (this.#held.length > longestHead) throw new HttpError(400, 'The head of a form field is too long.');
      await this.#more();
    }
  }

  async #more(): Promise<void> {
    const { value, done } = this.#ended ? { value: undefined, done: true } : await this.#source.next();
    if (done || value === undefined) {
      this.#ended = true;
      throw new HttpError(400, 'The form ends in the middle.');
    }
    this.#held = Buffer.concat([this.#held, value]);
  }
}

async function drain(pieces: AsyncIterable<Buffer>): Promise<void> {
  for await (const _piece of pieces);
}

/** A parameter of the Content-Disposition header. Clients escape quotes in one of two ways. */
function parameter(head: string, name: string): string | undefined {
  const [disposition] = /^content-disposition:.*$/im.exec(head) ?? [];
  const [, value] = new RegExp(`;\\s*${name}="((?:[^"\\\\]|\\\\.)*)"`, 'i').exec(disposition ?? '') ?? [];
  return value?.replace(/\\(["\\])/g, '$1').replaceAll('%22', '"');
}
