/**
 * Reads a tar archive as it arrives. Its author chooses neither how much memory it takes nor how long a header takes.
 */
import { isUtf8 } from 'node:buffer';

export interface TarEntry {
  readonly name: string;
  readonly type: TarType;
  readonly mode: number;
  readonly mtime: Date;
  readonly size: number;
  readonly linkname: string;
  /** Read it before the next member, or ignore it: the reader skips the rest. */
  readonly content: AsyncIterable<Uint8Array>;
}

type TarType =
  | 'file'
  | 'link'
  | 'symlink'
  | 'character-device'
  | 'block-device'
  | 'directory'
  | 'fifo'
  | 'contiguous-file'
  | 'unknown';

/** The input is not a tar archive, is damaged, or exceeds a limit. */
export class TarError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TarError';
  }
}

const block = 512;
/** Names and other records before a member: more than any file system has. */
const longestRecords = 1024 * 1024;
/** No path that a system takes is longer. */
const longestName = 4096;
/** Records of one kind after the other, without a member. */
const mostRecords = 64;

/** Names a volume, and is no member. */
const volumeLabel = 'V';

const types: Readonly<Record<string, TarType>> = {
  '\0': 'file',
  '0': 'file',
  '1': 'link',
  '2': 'symlink',
  '3': 'character-device',
  '4': 'block-device',
  '5': 'directory',
  '6': 'fifo',
  '7': 'contiguous-file',
};

export async function* readTar(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const source = new Source(chunks);
  try {
    let general: Records = {};
    let next: Records = {};
    let count = 0;
    let empty = 0;
    for (;;) {
      const bytes = await source.take(block);
      if (bytes === undefined) return;
      // Two empty blocks end an archive; some programs write one, or none.
      if (bytes.every((byte) => byte === 0)) {
        if (++empty === 2) return await source.drain();
        continue;
      }
      empty = 0;
      const found = parse(bytes);
      if (++count > mostRecords) throw new TarError('it has headers without end');
      if (found.flag === 'g') general = { ...general, ...parseRecords(await records(source, found.size)) };
      else if (found.flag === 'x') next = { ...next, ...parseRecords(await records(source, found.size)) };
      else if (found.flag === 'L') next = { ...next, path: textOf(await records(source, found.size)) };
      else if (found.flag === 'K') next = { ...next, linkpath: textOf(await records(source, found.size)) };
      else if (found.flag === volumeLabel) await new Content(source, found.size).pass();
      else {
        const member = decoded({ ...found, ...known({ ...general, ...next }) });
        next = {};
        count = 0;
        if (member.name.length > longestName || member.linkname.length > longestName)
          throw new TarError(`a name in it has more than ${longestName} characters`);
        const content = new Content(source, hasContent(member.flag) ? member.size : 0);
        yield entryOf(member, content);
        await content.pass();
      }
    }
  } finally {
    await source.close();
  }
}

/** Its texts are bytes, one in each character, as long as records may replace them. */
interface Header {
  readonly name: string;
  readonly flag: string;
  readonly mode: number;
  readonly seconds: number;
  readonly size: number;
  readonly linkname: string;
}

function parse(bytes: Buffer): Header {
  const sum = bytes.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  if (sum !== number(bytes, 148, 8)) throw new TarError('it is not a tar archive, or is damaged');
  const prefix = bytes.toString('latin1', 257, 263) === 'ustar\0' ? text(bytes, 345, 155) : '';
  const name = text(bytes, 0, 100);
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    mode: number(bytes, 100, 8) & 0o7777,
    size: number(bytes, 124, 12),
    // Files of before 1970 have negative ones.
    seconds: bytes[136] === 0xff ? 0 : number(bytes, 136, 12),
    flag: String.fromCharCode(bytes[156] as number),
    linkname: text(bytes, 157, 100),
  };
}

function entryOf({ name, flag, mode, seconds, size, linkname }: Header, content: Content): TarEntry {
  const kind = types[flag] ?? 'unknown';
  // Old programs mark a folder by its name alone.
  const type = kind === 'file' && name.endsWith('/') ? 'directory' : kind;
  return { name, type, mode, mtime: new Date(seconds * 1000), size, linkname, content };
}

function hasContent(flag: string): boolean {
  return !/[1-6]/.test(flag);
}

/** In octal, or in base 256 where that is too short. */
function number(bytes: Buffer, offset: number, length: number): number {
  const field = bytes.subarray(offset, offset + length);
  if (((field[0] as number) & 0x80) === 0) {
    const digits = /^[ \0]*([0-7]*)[ \0]*$/.exec(field.toString('latin1'))?.[1];
    if (digits === undefined) throw new TarError('a number in it is not one');
    return digits === '' ? 0 : Number.parseInt(digits, 8);
  }
  const value = field.subarray(1).reduce((total, byte) => total * 256 + byte, 0);
  if (field[0] !== 0x80 || !Number.isSafeInteger(value)) throw new TarError('a number in it is out of range');
  return value;
}

function text(bytes: Buffer, offset: number, length: number): string {
  return textOf(bytes.subarray(offset, offset + length));
}

function textOf(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('latin1', 0, end === -1 ? bytes.length : end);
}

function decoded(header: Header): Header {
  return { ...header, name: decodedName(header.name), linkname: decodedName(header.linkname) };
}

/** Other bytes would all become the same character, and two members one. */
function decodedName(text: string): string {
  const bytes = Buffer.from(text, 'latin1');
  if (isUtf8(bytes)) return bytes.toString('utf8');
  const shown = JSON.stringify(bytes.toString('utf8').slice(0, 100));
  throw new TarError(`a name in it, ${shown}, is not UTF-8`);
}

async function records(source: Source, size: number): Promise<Buffer> {
  if (size > longestRecords)
    throw new TarError(`a name or record in it takes ${size} bytes, over the max size of ${longestRecords}`);
  const bytes = await source.take(size + padding(size));
  if (bytes === undefined) throw cutOff();
  return bytes.subarray(0, size);
}

type Records = Readonly<Record<string, string>>;

/** Skip all other keys, so that memory does not grow with the archive. */
const readKeys = new Set(['path', 'linkpath', 'size', 'mtime']);

/** `<length> key=value\n`, over and over. */
function parseRecords(bytes: Buffer): Records {
  const found: Record<string, string> = {};
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const length = Number(bytes.toString('latin1', at, space === -1 ? at : space));
    const equals = bytes.indexOf(0x3d, space);
    if (!Number.isInteger(length) || equals === -1 || at + length > bytes.length || equals >= at + length)
      throw new TarError('a record in it is damaged');
    const key = bytes.toString('latin1', space + 1, equals);
    // The content of such a member is a map and the existing parts.
    if (key.startsWith('GNU.sparse.')) throw new TarError('it has a sparse file; pack it without --sparse');
    if (readKeys.has(key)) found[key] = bytes.toString('latin1', equals + 1, at + length - 1);
    at += length;
  }
  return found;
}

/** What records say of a member, instead of its header. */
function known({ path, linkpath, size, mtime }: Records): Partial<Header> {
  const numbers = { size: Number(size ?? 0), seconds: Number(mtime ?? 0) };
  if (!Number.isSafeInteger(numbers.size) || numbers.size < 0 || !Number.isFinite(numbers.seconds))
    throw new TarError('a number in it is out of range');
  return {
    ...(path !== undefined && { name: path }),
    ...(linkpath !== undefined && { linkname: linkpath }),
    ...(size !== undefined && { size: numbers.size }),
    ...(mtime !== undefined && { seconds: numbers.seconds }),
  };
}

/** The bytes of one member. */
class Content implements AsyncIterable<Uint8Array> {
  readonly #source: Source;
  #left: number;
  #padding: number;

  constructor(source: Source, size: number) {
    this.#source = source;
    this.#left = size;
    this.#padding = padding(size);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    while (this.#left > 0) {
      const piece = await this.#source.some(this.#left);
      if (piece === undefined) throw cutOff();
      this.#left -= piece.length;
      yield piece;
    }
  }

  /** Skips the rest. */
  async pass(): Promise<void> {
    for await (const _ of this);
    while (this.#padding > 0) {
      const piece = await this.#source.some(this.#padding);
      // Some programs leave the end of the last block out.
      if (piece === undefined) return;
      this.#padding -= piece.length;
    }
  }
}

/** Bytes in the requested sizes. */
class Source {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** At most this many; undefined at the end. */
  async some(most: number): Promise<Uint8Array | undefined> {
    while (this.#rest.length === 0) {
      const { value, done } = await this.#chunks.next();
      if (done) return undefined;
      this.#rest = value;
    }
    const piece = this.#rest.subarray(0, most);
    this.#rest = this.#rest.subarray(piece.length);
    return piece;
  }

  /** Exactly this many; undefined at the end. */
  async take(size: number): Promise<Buffer | undefined> {
    const pieces: Uint8Array[] = [];
    for (let left = size; left > 0; ) {
      const piece = await this.some(left);
      if (piece === undefined) {
        if (pieces.length === 0) return undefined;
        throw cutOff();
      }
      pieces.push(piece);
      left -= piece.length;
    }
    return Buffer.concat(pieces);
  }

  /** Takes the rest and drops it, so that the sender can finish. */
  async drain(): Promise<void> {
    while ((await this.some(Number.POSITIVE_INFINITY)) !== undefined);
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}

function cutOff(): TarError {
  return new TarError('it is cut off');
}

function padding(size: number): number {
  return (block - (size % block)) % block;
}
