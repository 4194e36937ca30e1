/** The Connect protocol with JSON: plain calls, and answers that are streams of messages. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type * as z from 'zod';
import { sayWhen } from '../../../base/http/http-errors.js';
import { defaultHttpLimits, type Log } from '../../../base/http/http-options.js';
import { incomingBytes } from '../../../base/http/incoming.js';
import { parseBody } from '../../../base/http/json-body.js';
import { Outgoing } from '../../../base/http/outgoing.js';
import { RpcError, rpcStatuses, toRpcError } from '../e2b-errors.js';

const streamType = 'application/connect+json';
const endFlag = 2;
/** A message has a byte of flags and its size before it. */
const headBytes = 5;
const largestMessage = 4 * 1024 * 1024;
const firstRoom = 4096;
const defaultKeepaliveSeconds = 90;
/** A client may wait for the input that it passes on. */
const longestSilenceMs = 3_600_000;

/** Makes requests of streams readable: their body is one message in an envelope. */
export function acceptEnvelopes(app: FastifyInstance): void {
  app.addContentTypeParser(
    streamType,
    { parseAs: 'buffer', bodyLimit: largestMessage },
    (_request, body: Buffer, done) => {
      try {
        done(null, parseBody(openEnvelope(body), defaultHttpLimits.jsonDepth));
      } catch (error) {
        done(error as Error);
      }
    },
  );
}

function openEnvelope(body: Buffer): Buffer {
  if (body.length < headBytes || body.readUInt8(0) !== 0 || body.readUInt32BE(1) !== body.length - headBytes)
    throw new RpcError('invalid_argument', 'The request must be one message, without compression.');
  return body.subarray(headBytes);
}

/** Leaves the messages of requests to `messagesOf`. */
export function acceptStreams(app: FastifyInstance): void {
  app.removeContentTypeParser(streamType);
  app.addContentTypeParser(streamType, (_request, payload, done) => done(null, payload));
}

/** The messages of a request, as they come, in however small pieces. */
export async function* messagesOf({ raw }: FastifyRequest): AsyncGenerator<unknown> {
  let whole = Buffer.alloc(headBytes);
  let filled = 0;
  let wanted = headBytes;
  // Between messages nothing is held, so that a client may be silent there.
  const silence = () => (filled === 0 ? longestSilenceMs : defaultHttpLimits.requestMs);
  for await (const bytes of incomingBytes(raw, silence)) {
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = 0; at < piece.length; ) {
      if (filled === whole.length) whole = withMoreRoom(whole, wanted);
      const copied = piece.copy(whole, filled, at);
      at += copied;
      filled += copied;
      if (filled === headBytes) wanted = headBytes + sizeOf(whole);
      if (filled < wanted) continue;
      yield parseBody(openEnvelope(whole), defaultHttpLimits.jsonDepth);
      whole = Buffer.alloc(headBytes);
      filled = 0;
      wanted = headBytes;
    }
  }
  if (filled > 0) throw new RpcError('invalid_argument', 'The last message is not whole.');
}

/** Grows with what has come: a head can promise much, and bring nothing. */
function withMoreRoom(filled: Buffer, wanted: number): Buffer<ArrayBuffer> {
  return Buffer.concat([filled], Math.min(wanted, Math.max(firstRoom, 2 * filled.length)));
}

function sizeOf(head: Buffer): number {
  const size = head.readUInt32BE(1);
  if (size > largestMessage)
    throw new RpcError('invalid_argument', `A message may have ${largestMessage} bytes at most.`);
  return size;
}

/** Answers a request of many messages with one. */
export function answerStream(reply: FastifyReply, failure: RpcError | undefined): FastifyReply {
  const end = failure === undefined ? {} : { error: { code: failure.code, message: failure.message } };
  const parts = failure === undefined ? [envelope(0, {})] : [];
  return reply.type(streamType).send(Buffer.concat([...parts, envelope(endFlag, end)]));
}

/** Checks a message. The refusal names the place that does not fit, but never the value. */
export function message<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value ?? {});
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new RpcError('invalid_argument', problems.join('; '));
}

export function sendRpcError(reply: FastifyReply, thrown: unknown, log: Log): void {
  const { code, message } = toRpcError(thrown, log);
  const status = rpcStatuses[code];
  sayWhen(reply, thrown);
  void reply.code(status).type('application/json').send(JSON.stringify({ code, message }));
}

/** The time that a client gives its call; undefined for as long as it takes. */
export function timeoutOf({ headers }: FastifyRequest): number | undefined {
  const value = Number(headers['connect-timeout-ms']);
  return Number.isSafeInteger(value) && value > 0 ? Math.min(value, 2_147_483_647) : undefined;
}

/** An answer of many messages. While it has none, it sends signs of life. */
export class RpcStream {
  readonly #reply: FastifyReply;
  readonly #outgoing: Outgoing;
  readonly #streams: Set<() => void>;
  readonly #keepalive: NodeJS.Timeout;
  readonly #cut = () => this.cut();

  constructor(request: FastifyRequest, reply: FastifyReply, streams: Set<() => void>, keepalive: object) {
    this.#reply = reply;
    this.#streams = streams;
    reply.hijack();
    reply.raw.writeHead(200, { 'content-type': streamType, 'cache-control': 'no-store' });
    this.#outgoing = new Outgoing(reply.raw);
    const asked = Number(request.headers['keepalive-ping-interval']);
    const seconds = Number.isFinite(asked) && asked >= 1 ? Math.min(asked, 3600) : defaultKeepaliveSeconds;
    this.#keepalive = setInterval(() => void this.send(keepalive), seconds * 1000);
    this.#keepalive.unref();
    streams.add(this.#cut);
    reply.raw.once('close', () => this.#over());
  }

  /** Aborts when the client is no longer there. */
  get gone(): AbortSignal {
    return this.#outgoing.gone;
  }

  /** Settles when there is room for more. */
  send(value: object): Promise<void> {
    this.#keepalive.refresh();
    return this.#outgoing.write(envelope(0, value));
  }

  async end(error?: RpcError): Promise<void> {
    const last = error === undefined ? {} : { error: { code: error.code, message: error.message } };
    clearInterval(this.#keepalive);
    await this.#outgoing.end(envelope(endFlag, last));
  }

  /** Breaks it off without an end, as when somebody kills a sandbox. */
  cut(): void {
    this.#reply.raw.destroy();
  }

  #over(): void {
    clearInterval(this.#keepalive);
    this.#streams.delete(this.#cut);
  }
}

function envelope(flags: number, value: object): Buffer {
  const text = JSON.stringify(value);
  const size = Buffer.byteLength(text);
  const buffer = Buffer.allocUnsafe(5 + size);
  buffer.writeUInt8(flags, 0);
  buffer.writeUInt32BE(size, 1);
  buffer.write(text, 5);
  return buffer;
}
