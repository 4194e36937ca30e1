/** Reads the name of the server from the first bytes of a TLS connection (RFC 8446, RFC 6066). */

export interface ClientHello {
  /** As the client sent it; undefined where it sent none. */
  readonly serverName: string | undefined;
}

/** More than any client sends, post-quantum keys included. */
export const longestHello = 32_768;

/** Clients spread a hello over two or three; each takes time here that the cell would choose. */
const mostRecords = 16;

const handshake = 22;
const clientHello = 1;

/** True when these bytes can be the beginning of TLS. */
export function looksLikeTls(bytes: Buffer): boolean {
  return bytes[0] === handshake && (bytes.length < 2 || bytes[1] === 3);
}

/** `more`: the hello is not whole yet. Undefined: this is no hello. */
export function parseClientHello(bytes: Buffer): ClientHello | 'more' | undefined {
  const message = handshakeBytes(bytes);
  if (message === undefined || message === 'more') return message;
  const { data, whole } = message;
  if (data.length > 0 && data[0] !== clientHello) return undefined;
  if (data.length < 4) return whole ? undefined : 'more';
  const length = data.readUIntBE(1, 3);
  if (length > longestHello) return undefined;
  if (data.length < 4 + length) return 'more';
  try {
    return { serverName: serverNameOf(data.subarray(4, 4 + length)) };
  } catch {
    return undefined;
  }
}

/** A hello can span several records. */
function handshakeBytes(bytes: Buffer): { data: Buffer; whole: boolean } | 'more' | undefined {
  const parts: Buffer[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (bytes[at] !== handshake || (bytes.length > at + 1 && bytes[at + 1] !== 3)) return undefined;
    if (bytes.length < at + 5) break;
    const length = bytes.readUInt16BE(at + 3);
    if (length === 0 || length > 16_640 || parts.length === mostRecords) return undefined;
    parts.push(bytes.subarray(at + 5, at + 5 + length));
    at += 5 + length;
    const data = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
    if (data.length >= 4 && data.length >= 4 + data.readUIntBE(1, 3)) return { data, whole: true };
  }
  if (parts.length === 0) return bytes.length < 5 ? 'more' : { data: Buffer.alloc(0), whole: false };
  return { data: Buffer.concat(parts), whole: false };
}

/** Throws where lengths do not agree. */
function serverNameOf(hello: Buffer): string | undefined {
  const reader = new Reader(hello);
  reader.take(2 + 32);
  reader.vector(1);
  reader.vector(2);
  reader.vector(1);
  if (reader.left === 0) return undefined;
  const extensions = new Reader(reader.vector(2));
  let found: string | undefined;
  const seen = new Set<number>();
  while (extensions.left > 0) {
    const type = extensions.number(2);
    const body = extensions.vector(2);
    if (seen.has(type)) throw new Error('an extension twice');
    seen.add(type);
    if (type === 0) found = hostNameIn(body);
  }
  return found;
}

function hostNameIn(body: Buffer): string {
  const list = new Reader(new Reader(body).vector(2));
  const names: string[] = [];
  while (list.left > 0) {
    const type = list.number(1);
    const name = list.vector(2);
    if (type === 0) names.push(name.toString('latin1'));
  }
  const [name] = names;
  // With two of them, the server may take the one that we did not judge.
  if (name === undefined || names.length > 1) throw new Error('not one name');
  return name;
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  take(length: number): Buffer {
    if (length > this.left) throw new Error('too short');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  number(bytes: number): number {
    return this.take(bytes).readUIntBE(0, bytes);
  }

  vector(lengthBytes: number): Buffer {
    return this.take(this.number(lengthBytes));
  }
}
