/** Takes one file out of a `multipart/form-data` body while it arrives. */
import { Refusal } from '../errors.js';

const longestHead = 16 * 1024;
const emptyLine = Buffer.from('\r\n\r\n');

/** The bytes of the first part with that name. Ends only when the whole body was well-formed. */
export async function* filePart(
  body: AsyncIterable<Uint8Array>,
  contentType: string | undefined,
  name: string,
): AsyncGenerator<Buffer> {
  const boundary = Buffer.from(`\r\n--${boundaryOf(contentType)}`);
  const bytes = new ByteReader(body);
  let isFound = false;
  await skip(bytes.until(boundary));
  while ((await bytes.take(2)) !== '--') {
    const isWanted: boolean = !isFound && nameIn(await readHead(bytes)) === name;
    isFound ||= isWanted;
    if (isWanted) yield* bytes.until(boundary);
    else await skip(bytes.until(boundary));
  }
  if (!isFound) throw new Refusal(422, [{ type: 'missing', loc: ['body', name], msg: 'Field required' }]);
}

function boundaryOf(contentType = ''): string {
  const [, quoted, plain] =
    /^multipart\/form-data\s*;.*\bboundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw new Refusal(422, 'The body must be multipart/form-data with a boundary.');
  return boundary;
}

async function readHead(bytes: ByteReader): Promise<string> {
  let head = '';
  // The two bytes that were taken belong to the line before; given back, an empty head ends at once.
  bytes.giveBack('\r\n');
  for await (const piece of bytes.until(emptyLine)) {
    head += piece.toString('utf8');
    if (head.length > longestHead) throw malformed('the head of a part is too long');
  }
  return head;
}

function nameIn(head: string): string | undefined {
  return /^content-disposition:\s*form-data\s*;(?:.*;)?\s*name=(?:"([^"]*)"|([^\s;]+))/im
    .exec(head)
    ?.slice(1)
    .find((name) => name !== undefined);
}

async function skip(pieces: AsyncIterable<Buffer>): Promise<void> {
  for await (const _piece of pieces);
}

function malformed(reason: string): Refusal {
  return new Refusal(400, `There was an error parsing the body: ${reason}.`);
}

/** Bytes of a stream, asked for by what they end with. */
class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  /** A body begins with a boundary, as if a line had ended before it. */
  #held: Buffer = Buffer.from('\r\n');

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** What comes before a delimiter, which is left out. */
  async *until(delimiter: Buffer): AsyncGenerator<Buffer> {
    for (;;) {
      const at = this.#held.indexOf(delimiter);
      if (at !== -1) {
        const piece = this.#held.subarray(0, at);
        this.#held = this.#held.subarray(at + delimiter.length);
        if (piece.length > 0) yield piece;
        return;
      }
      // The end of what is here may be the beginning of the delimiter.
      const safe = this.#held.length - delimiter.length + 1;
      if (safe > 0) {
        const piece = this.#held.subarray(0, safe);
        this.#held = this.#held.subarray(safe);
        yield piece;
      }
      await this.#more();
    }
  }

  async take(length: number): Promise<string> {
    while (this.#held.length < length) await this.#more();
    const taken = this.#held.subarray(0, length);
    this.#held = this.#held.subarray(length);
    return taken.toString('latin1');
  }

  giveBack(text: string): void {
    this.#held = Buffer.concat([Buffer.from(text), this.#held]);
  }

  async #more(): Promise<void> {
    const { value, done } = await this.#source.next();
    if (done) throw malformed('it ends too early');
    this.#held = Buffer.concat([this.#held, value]);
  }
}
