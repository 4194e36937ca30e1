/**
 * Carries unencrypted HTTP requests. It judges each request by its own target: a connection to an allowed host must
 * not carry a request to another.
 */
import {
  Agent,
  type ClientRequest,
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  request as startRequest,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { formatAuthority, type Host } from '../../protocol/network/host.js';
import { type HttpTarget, readAuthority, readTarget, sameHost } from './http-target.js';
import { httpRefusal, lastWords, Refusal, Unreachable } from './refusal.js';
import { endWhenIdle, tie } from './tie.js';

/** The connection that requests come by. */
export interface ClientConnection {
  /** The host of the connection, where we know it. */
  readonly host?: Host | undefined;
  readonly port: number;
  /** A proxy takes whole addresses, and CONNECT. */
  readonly isProxy: boolean;
  /** Judges a target and connects to it. Throws where the rules refuse it or it does not answer. */
  connect(host: Host, port: number): Promise<Duplex>;
  /** Judges a target without connecting to it; throws where the rules refuse it. */
  check(host: Host, port: number): Promise<void>;
  /** Judges a request by more than its target, and gives it as it is sent on; throws where it is refused. */
  edit(target: HttpTarget, incoming: IncomingMessage): Promise<EditedRequest>;
  /** Takes a connection that was asked for with CONNECT. */
  tunnel(stream: Duplex, host: Host, port: number, head: Buffer): void;
  /** Called for a request that it refuses before the request has a target. */
  onRefused(refusal: Refusal): void;
  /** Bytes of bodies and heads, as they pass. */
  onBytes(direction: 'sent' | 'received', bytes: number): void;
}

/** A request as it is sent on. */
export interface EditedRequest {
  readonly rawHeaders: readonly string[];
  /** In place of the body that came, which was read. */
  readonly body?: Buffer | undefined;
  /** Sees each piece of the body; throws where it must not be sent. */
  readonly scan?: ((chunk: Buffer) => void) | undefined;
  /** To be called when the request is over. */
  readonly release?: (() => void) | undefined;
}

interface Client extends ClientConnection {
  readonly upstreams: Map<string, Upstream>;
  /** Requests without an answer yet. */
  waiting: number;
  /** Ends the connection when no whole head comes in time. */
  idle: NodeJS.Timeout | undefined;
}

interface Upstream {
  readonly agent: Agent;
  /** How many requests use it now. */
  used: number;
}

/** How long the first head of a connection may take, and each after an answer. */
const firstHeadMs = 30_000;
const nextHeadMs = 120_000;
/** How long a connection to a server waits for the next request. */
const keptMs = 60_000;

/** Requests that a client may send ahead of their answers; no client needs more, and each takes memory here. */
const mostWaiting = 64;

/** Headers that hold for one connection only. */
const ownToConnection = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'upgrade',
]);

export class HttpForwarder {
  readonly #server: Server;
  readonly #clients = new WeakMap<Duplex, Client>();

  constructor() {
    this.#server = createServer({
      maxHeaderSize: 65_536,
      // A server that does not listen checks no heads, so each connection has its own timer.
      headersTimeout: 0,
      requestTimeout: 0,
      keepAliveTimeout: 0,
      insecureHTTPParser: false,
    });
    this.#server.on('request', (request, response) => {
      this.#forward(request, response).catch(() => request.destroy());
    });
    this.#server.on('upgrade', (request, stream, head) => {
      this.#upgrade(request, stream, head).catch(() => stream.destroy());
    });
    this.#server.on('connect', (request, stream, head) => {
      this.#connect(request, stream, head).catch(() => stream.destroy());
    });
    this.#server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
      const client = this.#clients.get(stream);
      if (client !== undefined && error.code?.startsWith('HPE_'))
        client.onRefused(ambiguous(client, new Error(`The request cannot be read: ${error.message}`)));
      if (stream.writable) lastWords(stream, 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
      else stream.destroy();
    });
  }

  serve(stream: Duplex, connection: ClientConnection): void {
    const upstreams = new Map<string, Upstream>();
    const client: Client = { ...connection, upstreams, waiting: 0, idle: undefined };
    this.#clients.set(stream, client);
    awaitHead(stream, client, firstHeadMs);
    stream.once('close', () => {
      clearTimeout(client.idle);
      for (const { agent } of upstreams.values()) agent.destroy();
    });
    this.#server.emit('connection', stream);
  }

  async #forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const client = this.#clients.get(incoming.socket);
    if (client === undefined || ++client.waiting > mostWaiting) return void incoming.destroy();
    clearTimeout(client.idle);
    let isAnswered = false;
    const answered = () => {
      if (isAnswered) return;
      isAnswered = true;
      if (--client.waiting === 0) awaitHead(incoming.socket, client, nextHeadMs);
    };
    response.once('finish', answered).once('close', answered);
    try {
      const target = await judged(client, incoming);
      const edited = await client.edit(target, incoming);
      client.onBytes('sent', headBytes(incoming));
      await this.#exchange({ client, target, edited }, incoming, response).finally(edited.release);
    } catch (error) {
      answerFailure(incoming, response, error as Error);
    }
  }

  #exchange(
    { client, target, edited }: { client: Client; target: HttpTarget; edited: EditedRequest },
    incoming: IncomingMessage,
    response: ServerResponse,
    isRetry = false,
  ): Promise<void> {
    const { rawHeaders, body, scan } = edited;
    const hasBody = bodyOf(incoming);
    const outgoing = send(client, target, incoming, passedOn(rawHeaders, hasBody, incoming.method));
    return new Promise((resolve, reject) => {
      const guarded = guard(reject);
      let isAnswered = false;
      outgoing.on(
        'error',
        guarded((error: NodeJS.ErrnoException) => {
          // A server may close a waiting connection just when we send the next request on it.
          if (!isRetry && !hasBody && outgoing.reusedSocket && error.code === 'ECONNRESET')
            resolve(this.#exchange({ client, target, edited }, incoming, response, true));
          else reject(error);
        }),
      );
      outgoing.on(
        'response',
        guarded((answer: IncomingMessage) => {
          isAnswered = true;
          const { status, reason, headers } = readAnswer(target, answer);
          response.writeHead(status, reason, headers);
          client.onBytes('received', headBytes(answer));
          answer.on('data', (chunk: Buffer) => client.onBytes('received', chunk.length));
          answer.on('aborted', () => response.destroy());
          answer.pipe(response);
          response.on('close', resolve);
        }),
      );
      // For example after an upgrade that the client did not request.
      outgoing.once('close', () => {
        if (!isAnswered) reject(new Unreachable(target.host, target.port, 'it closed without an answer'));
      });
      response.once('close', () => outgoing.destroy());
      if (isRetry || !hasBody) return void outgoing.end();
      if (body !== undefined) return void outgoing.end(body);
      incoming.on('data', (chunk: Buffer) => {
        client.onBytes('sent', chunk.length);
        try {
          scan?.(chunk);
        } catch (error) {
          incoming.unpipe();
          outgoing.destroy(error as Error);
        }
      });
      incoming.pipe(outgoing);
    });
  }

  /** WebSockets. Bytes pass unread only once the server has agreed; any other upgrade could hide requests. */
  async #upgrade(incoming: IncomingMessage, stream: Duplex, head: Buffer): Promise<void> {
    const client = this.#takenOver(stream);
    if (client === undefined) return void stream.destroy();
    try {
      const target = await judged(client, incoming);
      if (incoming.headers.upgrade?.toLowerCase() !== 'websocket')
        throw new Refusal(target.host, target.port, {
          allowed: false,
          reason: `an upgrade to ${JSON.stringify(incoming.headers.upgrade)} cannot be judged`,
        });
      const { rawHeaders } = await client.edit(target, incoming);
      const headers = [...passedOn(rawHeaders, true), 'Connection', 'Upgrade', 'Upgrade', 'websocket'];
      const outgoing = send(client, target, incoming, headers);
      let isAnswered = false;
      const fail = (error: Error) => {
        if (isAnswered) stream.destroy();
        else lastWords(stream, httpRefusal(error));
        isAnswered = true;
      };
      const guarded = guard(fail);
      outgoing.on('error', fail);
      outgoing.on(
        'response',
        guarded((answer: IncomingMessage) => {
          const { status, reason, headers } = readAnswer(target, answer);
          isAnswered = true;
          stream.write(rawHead(status, reason, [...headers, 'Connection', 'close']), 'latin1');
          client.onBytes('received', headBytes(answer));
          answer.on('data', (chunk: Buffer) => client.onBytes('received', chunk.length));
          answer.on('aborted', () => stream.destroy());
          answer.pipe(stream, { end: false });
          answer.once('end', () => lastWords(stream, ''));
        }),
      );
      outgoing.on(
        'upgrade',
        guarded((answer: IncomingMessage, upstream: Socket, first: Buffer) => {
          isAnswered = true;
          stream.write(rawHead(101, 'Switching Protocols', answer.rawHeaders), 'latin1');
          join(client, stream, upstream, { head, first });
        }),
      );
      outgoing.end();
    } catch (error) {
      lastWords(stream, httpRefusal(error as Error));
    }
  }

  /** The client of a stream that carries no more requests; undefined while answers to earlier ones still go by it. */
  #takenOver(stream: Duplex): Client | undefined {
    stream.on('error', () => {});
    const client = this.#clients.get(stream);
    clearTimeout(client?.idle);
    return client?.waiting === 0 ? client : undefined;
  }

  async #connect(incoming: IncomingMessage, stream: Duplex, head: Buffer): Promise<void> {
    const client = this.#takenOver(stream);
    if (client === undefined) return void stream.destroy();
    if (!client.isProxy)
      return lastWords(stream, 'HTTP/1.1 405 Method Not Allowed\r\nConnection: close\r\n\r\n');
    try {
      const { host, port } = readAuthority(incoming.url ?? '', 0);
      await client.check(host, port);
      stream.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.tunnel(stream, host, port, head);
    } catch (error) {
      const known = error instanceof Refusal ? error : ambiguous(client, error as Error);
      if (known !== error) client.onRefused(known);
      lastWords(stream, httpRefusal(known));
    }
  }
}

function awaitHead(stream: Duplex, client: Client, ms: number): void {
  clearTimeout(client.idle);
  if (!stream.destroyed) client.idle = setTimeout(() => stream.destroy(), ms).unref();
}

/** Throws unless the request is for the host of its connection. */
async function judged(client: Client, incoming: IncomingMessage): Promise<HttpTarget> {
  let target: HttpTarget;
  try {
    target = readTarget(incoming, client.isProxy ? 80 : client.port);
    const named = client.host;
    if (!client.isProxy && incoming.url?.startsWith('/') === false && incoming.url !== '*')
      throw new Error('The request has a whole address as its target, which only a proxy takes');
    if (client.isProxy && incoming.url?.startsWith('/'))
      throw new Error('This is a proxy; a request to it has a whole address as its target');
    if (
      !client.isProxy &&
      (target.port !== client.port || (named !== undefined && !sameHost(named, target.host)))
    )
      throw new Error(
        `The Host header names ${formatAuthority(target.host, target.port)}, and the connection is to another`,
      );
  } catch (error) {
    const refusal = ambiguous(client, error as Error);
    client.onRefused(refusal);
    throw refusal;
  }
  await client.check(target.host, target.port);
  return target;
}

function ambiguous({ host, port }: Client, { message }: Error): Refusal {
  return new Refusal(host, port, {
    allowed: false,
    reason: message.charAt(0).toLowerCase() + message.slice(1),
  });
}

function send(
  client: Client,
  target: HttpTarget,
  incoming: IncomingMessage,
  headers: string[],
): ClientRequest {
  const { host, port, path } = target;
  const upstream = upstreamFor(client, host, port);
  const outgoing = startRequest({
    agent: upstream.agent,
    method: incoming.method,
    path,
    headers,
    // Nothing looks it up: the agent connects to the judged address.
    host: 'judged.invalid',
    port,
  });
  upstream.used++;
  outgoing.once('close', () => upstream.used--);
  return outgoing;
}

/**
 * One connection to each host for each connection of the cell, so that both end together. End the idle ones when the
 * client wants another host: a cell must not collect them.
 */
function upstreamFor(client: Client, host: Host, port: number): Upstream {
  const key = formatAuthority(host, port);
  const known = client.upstreams.get(key);
  if (known !== undefined) return known;
  for (const [other, { agent, used }] of client.upstreams) {
    if (used > 0) continue;
    agent.destroy();
    client.upstreams.delete(other);
  }
  const agent = new Agent({ keepAlive: true, maxSockets: 1, timeout: keptMs });
  agent.createConnection = (_options, done) => {
    client.connect(host, port).then(
      (stream) => done?.(null, stream),
      (error: Error) => done?.(error, undefined as never),
    );
    return undefined as never;
  };
  const upstream = { agent, used: 0 };
  client.upstreams.set(key, upstream);
  return upstream;
}

/** An error in an event handler ends its exchange. Nothing else would catch it, and the owner's process would end. */
function guard(fail: (error: Error) => void) {
  return <Values extends unknown[]>(handler: (...values: Values) => void) =>
    (...values: Values): void => {
      try {
        handler(...values);
      } catch (error) {
        fail(error as Error);
      }
    };
}

/** The head of an answer, ready to pass on. The parser accepts values that we must not write. */
function readAnswer({ host, port }: HttpTarget, answer: IncomingMessage) {
  const { statusCode: status = 0, statusMessage = '', rawHeaders } = answer;
  if (status < 200 || status > 599) throw new Unreachable(host, port, `its answer has the status ${status}`);
  const reason = statusMessage.replace(/[^\t\x20-\x7e\x80-\xff]/g, '?');
  return { status, reason, headers: passedOn(rawHeaders, false) };
}

/** Whether a body follows, by the framing of the request alone. */
function bodyOf({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** The headers without those for one connection, and without those that `Connection` names. */
function passedOn(raw: readonly string[], keepsFraming: boolean, method = 'GET'): string[] {
  const named = raw
    .filter((_, index) => index % 2 === 1 && raw[index - 1]?.toLowerCase() === 'connection')
    .flatMap((value) =>
      value
        .toLowerCase()
        .split(',')
        .map((part) => part.trim()),
    );
  const dropped = new Set([...ownToConnection, ...named, ...(keepsFraming ? [] : ['transfer-encoding'])]);
  for (const kept of ['host', 'content-length', ...(keepsFraming ? ['transfer-encoding'] : [])])
    dropped.delete(kept);
  const headers: string[] = [];
  let hasLength = false;
  for (let index = 0; index < raw.length; index += 2) {
    const [name = '', value = ''] = [raw[index], raw[index + 1]];
    if (dropped.has(name.toLowerCase())) continue;
    if (/^content-length$|^transfer-encoding$/i.test(name)) hasLength = true;
    headers.push(name, value);
  }
  if (!hasLength && ['POST', 'PUT', 'PATCH'].includes(method)) headers.push('Content-Length', '0');
  return headers;
}

function headBytes({ rawHeaders, url = '' }: IncomingMessage): number {
  return rawHeaders.reduce((sum, part) => sum + part.length + 2, url.length + 16);
}

function rawHead(status: number, reason: string, rawHeaders: readonly string[]): string {
  const lines = [`HTTP/1.1 ${status} ${reason}`];
  for (let index = 0; index < rawHeaders.length; index += 2)
    lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function join(
  client: Client,
  stream: Duplex,
  upstream: Socket,
  { head, first }: { head: Buffer; first: Buffer },
): void {
  if (head.length > 0) upstream.write(head);
  if (first.length > 0) stream.write(first);
  stream.on('data', (chunk: Buffer) => client.onBytes('sent', chunk.length));
  upstream.on('data', (chunk: Buffer) => client.onBytes('received', chunk.length));
  endWhenIdle(upstream);
  tie(stream, upstream);
}

function answerFailure(incoming: IncomingMessage, response: ServerResponse, error: Error): void {
  // We do not need the rest of the body, and reading it could take for ever.
  incoming.unpipe();
  if (response.headersSent || response.destroyed) return void response.destroy();
  const isRefused = error instanceof Refusal;
  const known = isRefused || 'toJSON' in error ? error : { error: 'unreachable', message: error.message };
  const [status, reason] = isRefused ? ([403, 'Forbidden'] as const) : ([502, 'Bad Gateway'] as const);
  // Name the reason, because a head that failed to be written leaves its own reason behind.
  response.writeHead(status, reason, {
    'Content-Type': 'application/json',
    'X-Workcell-Network': isRefused ? 'refused' : 'unreachable',
    ...(bodyOf(incoming) && { Connection: 'close' }),
  });
  response.end(`${JSON.stringify(known)}\n`);
}
