/** SOCKS 5 (RFC 1928) without authentication. It supports only the command CONNECT. */
import type { Duplex } from 'node:stream';
import { formatAddress } from '../../protocol/network/address.js';
import { type Host, parseHost } from '../../protocol/network/host.js';
import { firstBytes } from './first-bytes.js';

export interface SocksRequest {
  readonly host: Host;
  readonly port: number;
  /** Call it once, with the result, before you write anything else. */
  answer(code: keyof typeof codes): void;
}

const codes = { granted: 0, failed: 1, refused: 2, unreachable: 4, unsupported: 7, noAddress: 8 } as const;
const helloMs = 10_000;

/** Undefined when it has answered and ended the stream. */
export async function readSocksRequest(stream: Duplex): Promise<SocksRequest | undefined> {
  const greeting = await take(stream, (bytes) => 2 + (bytes[1] ?? 255));
  if (greeting === undefined || greeting[0] !== 5) return end(stream);
  if (!greeting.subarray(2).includes(0)) return end(stream, Buffer.from([5, 0xff]));
  stream.write(Buffer.from([5, 0]));
  const request = await take(stream, requestLength);
  if (request === undefined || request[0] !== 5 || request[2] !== 0) return end(stream);
  const answer = (code: keyof typeof codes) =>
    void stream.write(Buffer.from([5, codes[code], 0, 1, 0, 0, 0, 0, 0, 0]));
  if (request[1] !== 1) {
    answer('unsupported');
    return end(stream);
  }
  const host = hostIn(request);
  if (host === undefined) {
    answer('noAddress');
    return end(stream);
  }
  return { host, port: request.readUInt16BE(request.length - 2), answer };
}

/** As far as the bytes so far tell. */
function requestLength(bytes: Buffer): number {
  if (bytes.length < 5) return 5;
  if (bytes[3] === 1) return 10;
  if (bytes[3] === 4) return 22;
  return 7 + (bytes[4] ?? 0);
}

function hostIn(request: Buffer): Host | undefined {
  const address = request.subarray(4, -2);
  const value = BigInt(`0x${address.toString('hex')}`);
  if (request[3] === 1) return parseHost(formatAddress({ bits: 32, value }));
  if (request[3] === 4) return parseHost(`[${formatAddress({ bits: 128, value })}]`);
  // Read bytes: a NUL in a name ends it for resolvers, and `parseHost` takes none.
  return request[3] === 3 ? parseHost(request.toString('latin1', 5, request.length - 2)) : undefined;
}

/** Takes exactly one message off the stream. */
async function take(stream: Duplex, length: (bytes: Buffer) => number): Promise<Buffer | undefined> {
  const bytes = await firstBytes(stream, (seen) => seen.length >= length(seen), helloMs);
  const needed = length(bytes);
  if (bytes.length < needed) return undefined;
  return stream.read(needed) as Buffer;
}

function end(stream: Duplex, words?: Buffer): undefined {
  if (words !== undefined) stream.write(words);
  stream.end();
  stream.resume();
  return undefined;
}
