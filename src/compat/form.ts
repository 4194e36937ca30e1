/** Reads a `multipart/form-data` body part by part while it arrives; keeps nothing of it. */

export interface FormPart {
  readonly name: string | undefined;
  /** Present when the part is a file. */
  readonly filename: string | undefined;
  /** Taking the next part skips the rest of this one. */
  readonly content: AsyncIterable<Buffer>;
}

/** Creates the protocol's error for an unreadable body. */
export type Fail = (reason: string, kind: 'no-form' | 'malformed') => Error;

const longestHead = 16 * 1024;

/** The parts in order. Ends only after a well-formed body. */
export async function* readForm(
  body: AsyncIterable<Uint8Array>,
  contentType: string | undefined,
  fail: Fail,
): AsyncGenerator<FormPart, void> {
  const [, quoted, plain] =
    /^multipart\/form-data\s*;.*\bboundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType ?? '') ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw fail('The body must be multipart/form-data with a boundary.', 'no-form');
  const bytes = new ByteReader(body, Buffer.from(`\r\n--${boundary}`, 'latin1'), fail);
  await drain(bytes.untilDelimiter());
  for (let head = await bytes.head(); head !== undefined; head = await bytes.head()) {
    const content = bytes.untilDelimiter();
    yield { name: parameter(head, 'name'), filename: parameter(head, 'filename'), content };
    await drain(content);
  }
}

class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #delimiter: Buffer;
  readonly #fail: Fail;
  /** A body begins with a delimiter, as if a line had ended before it. */
  #held: Buffer = Buffer.from('\r\n');

  constructor(body: AsyncIterable<Uint8Array>, delimiter: Buffer, fail: Fail) {
    this.#source = body[Symbol.asyncIterator]();
    this.#delimiter = delimiter;
    this.#fail = fail;
  }

  /** Yields everything up to the next delimiter, and takes the delimiter, too. */
  async *untilDelimiter(): AsyncGenerator<Buffer> {
    for (;;) {
      const found = this.#held.indexOf(this.#delimiter);
      if (found !== -1) {
        const before = this.#held.subarray(0, found);
        this.#held = this.#held.subarray(found + this.#delimiter.length);
        if (before.length > 0) yield before;
        return;
      }
      // The end of the held bytes may begin a delimiter.
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
      if (this.#held.length > longestHead)
        throw this.#fail('The head of a form field is too long.', 'malformed');
      await this.#more();
    }
  }

  async #more(): Promise<void> {
    const { value, done } = await this.#source.next();
    if (done) throw this.#fail('The form ends in the middle.', 'malformed');
    this.#held = Buffer.concat([this.#held, value]);
  }
}

async function drain(pieces: AsyncIterable<Buffer>): Promise<void> {
  for await (const _piece of pieces);
}

/** A parameter of the Content-Disposition header. Clients escape quotes in one of two ways. */
function parameter(head: string, name: string): string | undefined {
  const [disposition] = /^content-disposition:.*$/im.exec(head) ?? [];
  const [, quoted, plain] =
    new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;"]+))`, 'i').exec(disposition ?? '') ?? [];
  return quoted?.replace(/\\(["\\])/g, '$1').replaceAll('%22', '"') ?? plain;
}
