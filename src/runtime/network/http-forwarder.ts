/**
 * Carries unencrypted HTTP requests. It judges each request by its own target: a connection to an allowed host must
 * not carry a request to another.
 */
import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { formatAuthority } from '../../protocol/network/host.js';
import {
  type Client,
  type ClientConnection,
  type EditedRequest,
  queue,
  send,
  type Turn,
} from './http-client.js';
import { bodyOf, headBytes, passedOn, rawHead, readAnswer } from './http-heads.js';
import { type HttpTarget, readAuthority, readTarget, sameHost } from './http-target.js';
import { passLargeBody } from './large-body.js';
import { httpRefusal, lastWords, Refusal, Unreachable } from './refusal.js';
import { endWhenIdle, pass, tie, whenFree } from './tie.js';

/** How long the first head of a connection may take, and each after an answer. */
const firstHeadMs = 30_000;
const nextHeadMs = 120_000;

/** Requests that a client may send ahead of their answers; no client needs more, and each takes memory here. */
const mostWaiting = 64;

/** Methods that change nothing, so that a server may get such a request twice. */
const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

interface Judged {
  readonly client: Client;
  readonly target: HttpTarget;
  readonly edited: EditedRequest;
}

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
    const client: Client = { ...connection, upstreams: new Map(), waiting: 0, idle: undefined };
    this.#clients.set(stream, client);
    awaitHead(stream, client, firstHeadMs);
    stream.once('close', () => {
      clearTimeout(client.idle);
      for (const { agent } of client.upstreams.values()) agent.destroy();
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
      const target = targetOf(client, incoming);
      const turn = queue(client, target);
      try {
        await this.#forwardInTurn({ client, target, turn }, incoming, response);
      } finally {
        turn.end();
      }
    } catch (error) {
      answerFailure(incoming, response, error as Error);
    }
  }

  async #forwardInTurn(
    { client, target, turn }: { client: Client; target: HttpTarget; turn: Turn },
    incoming: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    await judge(client, target, incoming);
    const edited = await client.edit(target, incoming);
    try {
      client.meter('sent', headBytes(incoming));
      await mayPass(client);
      await turn.comes;
      if (!response.destroyed) await this.#exchange({ client, target, edited }, incoming, response);
    } finally {
      edited.release?.();
    }
  }

  #exchange(
    { client, target, edited }: Judged,
    incoming: IncomingMessage,
    response: ServerResponse,
    isRetry = false,
  ): Promise<void> {
    const { rawHeaders } = edited;
    const hasBody = bodyOf(incoming);
    const outgoing = send(client, target, incoming, passedOn(rawHeaders, hasBody, incoming.method));
    return new Promise((resolve, reject) => {
      const guarded = guard(reject);
      let isAnswered = false;
      outgoing.on(
        'error',
        guarded((error: NodeJS.ErrnoException) => {
          // A server may close a waiting connection just when we send the next request on it, or after it did that.
          const isCut = outgoing.reusedSocket && error.code === 'ECONNRESET';
          if (isCut && !isRetry && !hasBody && safeMethods.has(outgoing.method))
            resolve(this.#exchange({ client, target, edited }, incoming, response, true));
          else reject(error);
        }),
      );
      outgoing.on(
        'response',
        guarded((answer: IncomingMessage) => {
          isAnswered = true;
          // The program is gone, and nobody takes the answer.
          if (response.destroyed) return void outgoing.destroy();
          const { status, reason, headers } = readAnswer(target, answer);
          response.writeHead(status, reason, headers);
          client.meter('received', headBytes(answer));
          let isWhole = false;
          answer.on('aborted', () => isWhole || response.destroy());
          const meter = (bytes: number) => client.meter('received', bytes);
          pass(answer, response, meter);
          passLargeBody(outgoing, answer, response, {
            meter,
            onWhole: () => {
              isWhole = true;
            },
          });
        }),
      );
      outgoing.once('close', () => {
        if (isAnswered) return resolve();
        // For example after an upgrade that the client did not request.
        reject(new Unreachable(target.host, target.port, 'it closed without an answer'));
      });
      response.once('close', () => outgoing.destroy());
      if (isRetry || !hasBody) return void outgoing.end();
      // The request was judged again then; from now on a change of the rules ends its connection.
      outgoing.once(
        'socket',
        guarded(() => {
          if (!outgoing.destroyed) sendBody({ client, edited }, incoming, outgoing);
        }),
      );
    });
  }

  /** WebSockets. Bytes pass unread only once the server has agreed; any other upgrade could hide requests. */
  async #upgrade(incoming: IncomingMessage, stream: Duplex, head: Buffer): Promise<void> {
    const client = this.#takenOver(stream);
    if (client === undefined) return void stream.destroy();
    try {
      const target = targetOf(client, incoming);
      await judge(client, target, incoming);
      if (incoming.headers.upgrade?.toLowerCase() !== 'websocket')
        throw new Refusal(target.host, target.port, {
          allowed: false,
          reason: `an upgrade to ${JSON.stringify(incoming.headers.upgrade)} cannot be judged`,
        });
      const { rawHeaders } = await client.edit(target, incoming);
      client.meter('sent', headBytes(incoming));
      await mayPass(client);
      // Each of these can take minutes, and nobody waits for an answer any longer.
      if (stream.destroyed) return;
      const headers = [...passedOn(rawHeaders, true), 'Connection', 'Upgrade', 'Upgrade', 'websocket'];
      const outgoing = send(client, target, incoming, headers);
      let isAnswered = false;
      const fail = (error: Error) => {
        if (isAnswered) stream.destroy();
        else lastWords(stream, httpRefusal(error));
        isAnswered = true;
      };
      const guarded = guard(fail);
      const leave = () => outgoing.destroy();
      stream.once('close', leave);
      outgoing.on('error', fail);
      outgoing.on(
        'response',
        guarded((answer: IncomingMessage) => {
          const { status, reason, headers } = readAnswer(target, answer);
          isAnswered = true;
          stream.write(rawHead(status, reason, [...headers, 'Connection', 'close']), 'latin1');
          client.meter('received', headBytes(answer));
          answer.on('aborted', () => stream.destroy());
          const end = () => lastWords(stream, '');
          pass(answer, stream, (bytes) => client.meter('received', bytes), end);
        }),
      );
      outgoing.on(
        'upgrade',
        guarded((answer: IncomingMessage, upstream: Socket, first: Buffer) => {
          isAnswered = true;
          // From now on what was sent before still arrives.
          stream.off('close', leave);
          stream.write(rawHead(101, 'Switching Protocols', answer.rawHeaders), 'latin1');
          client.meter('received', headBytes(answer));
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
function targetOf(client: Client, incoming: IncomingMessage): HttpTarget {
  try {
    const target = readTarget(incoming, client.isProxy ? 80 : client.port);
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
    return target;
  } catch (error) {
    const refusal = ambiguous(client, error as Error);
    client.onRefused(refusal);
    throw refusal;
  }
}

/** Settles when the limits of the cell let bytes pass, either way. */
function mayPass(client: Client): Promise<void> {
  return whenFree(() => Math.max(client.meter('sent', 0), client.meter('received', 0)));
}

/** Throws unless the rules allow the request. */
async function judge(client: Client, target: HttpTarget, incoming: IncomingMessage): Promise<void> {
  await client.check(target.host, target.port);
  client.judge(target, incoming);
}

function ambiguous({ host, port }: Client, { message }: Error): Refusal {
  return new Refusal(host, port, {
    allowed: false,
    reason: message.charAt(0).toLowerCase() + message.slice(1),
  });
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

function join(
  client: Client,
  stream: Duplex,
  upstream: Socket,
  { head, first }: { head: Buffer; first: Buffer },
): void {
  client.meter('sent', head.length);
  if (head.length > 0) upstream.write(head);
  client.meter('received', first.length);
  if (first.length > 0) stream.write(first);
  endWhenIdle(upstream);
  tie(stream, upstream, client.meter);
}

function sendBody(
  { client, edited: { body, scan } }: Pick<Judged, 'client' | 'edited'>,
  incoming: IncomingMessage,
  outgoing: ClientRequest,
): void {
  const look = (bytes: Buffer) => {
    try {
      scan?.(bytes);
    } catch (error) {
      outgoing.destroy(error as Error);
    }
  };
  if (body !== undefined) {
    look(body);
    if (outgoing.destroyed) return;
    client.meter('sent', body.length);
    outgoing.end(body);
    return;
  }
  // It comes before what passes the piece on, which then does not.
  incoming.on('data', look);
  pass(incoming, outgoing, (bytes) => client.meter('sent', bytes));
}

function answerFailure(incoming: IncomingMessage, response: ServerResponse, error: Error): void {
  // We do not need the rest of the body, and reading it could take for ever.
  incoming.pause();
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
