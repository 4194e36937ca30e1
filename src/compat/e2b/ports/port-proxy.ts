/** Passes requests and WebSockets on to a port inside a sandbox. */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { type Duplex, pipeline } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { WebSocket } from 'ws';
import { answerPings, passPings } from '../../../base/pings.js';
import { WorkcellError } from '../../../protocol/index.js';
import { E2bError, isGone } from '../e2b-errors.js';
import type { Sandboxes } from '../e2b-sandboxes.js';
import { checkTraffic } from '../sandbox-access.js';

export interface SandboxPort {
  readonly id: string;
  readonly port: number;
}

/** `at`: the constraint of requests that name a port of a sandbox. */
export function portProxy(
  app: FastifyInstance,
  sandboxes: Sandboxes,
  at: object,
  placeOf: (request: FastifyRequest) => SandboxPort,
): void {
  const connections = new WeakMap<FastifyRequest, Duplex>();
  const inside = (request: FastifyRequest) => connections.get(request) as Duplex;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  // Connect before the upgrade, to refuse a port without a listener with an error.
  app.addHook('preHandler', async (request, reply) => {
    connections.set(request, await open(sandboxes, placeOf(request), request, reply));
  });
  app.route({
    method: ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'],
    url: '/*',
    ...at,
    config: { streams: true },
    handler: (request, reply) => forward(request, reply, inside(request)),
  });
  app.route({
    method: 'GET',
    url: '/*',
    ...at,
    exposeHeadRoute: false,
    handler: (request, reply) => forward(request, reply, inside(request)),
    wsHandler: (socket, request) => relay(socket, request, inside(request)),
  });
}

async function open(
  sandboxes: Sandboxes,
  { id, port }: SandboxPort,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Duplex> {
  checkTraffic(request, reply, sandboxes, sandboxes.running(id));
  const { runtime } = await sandboxes.open(id, request, reply);
  try {
    const inside = (await runtime.connect(port)) as Duplex;
    const leave = () => inside.destroy();
    request.raw.socket.once('close', leave);
    inside.once('close', () => request.raw.socket.off('close', leave));
    reply.raw.once('close', () => {
      if (!request.ws) inside.destroy();
    });
    return inside;
  } catch (error) {
    const isOurs =
      WorkcellError.isInstance(error) && (isGone(error) || error.code === 'capability-unsupported');
    if (isOurs) throw error;
    throw new E2bError(502, 'The sandbox is running but port is not open', { sandboxId: id, port });
  }
}

/** These are about one connection, or about this server. */
const ownHeaders = [
  'connection',
  'keep-alive',
  'upgrade',
  'transfer-encoding',
  'e2b-sandbox-id',
  'e2b-sandbox-port',
  'e2b-traffic-access-token',
];

function passed(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ownHeaders.includes(name)));
}

function forward(request: FastifyRequest, reply: FastifyReply, inside: Duplex): FastifyReply {
  reply.hijack();
  const { method, url } = request.raw;
  const outgoing = httpRequest({
    method,
    path: url,
    headers: { ...passed(request.headers), connection: 'close' },
    createConnection: () => inside as never,
  });
  const fail = () => {
    inside.destroy();
    if (reply.raw.headersSent) reply.raw.destroy();
    else reply.raw.writeHead(502).end();
  };
  outgoing.once('error', fail);
  // A program that switches protocols unasked. Without a listener it would be no answer, and no error either.
  outgoing.once('upgrade', fail);
  outgoing.once('response', (response) => {
    const { statusCode = 502, headers } = response;
    try {
      reply.raw.writeHead(statusCode, passed(headers));
    } catch {
      // A program of the sandbox answers, and may send what no server may send, such as the status 099.
      return fail();
    }
    // With its listeners and ours, a pipeline on the answer has more than Node takes for sound, and warns of each.
    response.once('error', fail);
    response.pipe(reply.raw);
  });
  pipeline(request.raw, outgoing, () => {});
  return reply;
}

const longestFrame = 1024 * 1024;

function relay(outside: WebSocket, request: FastifyRequest, connection: Duplex): void {
  const socketHeaders = Object.entries(passed(request.headers)).filter(
    ([name]) => !name.startsWith('sec-websocket-'),
  );
  const inside = new WebSocket(`ws://sandbox${request.raw.url ?? '/'}`, {
    headers: Object.fromEntries(socketHeaders) as Record<string, string>,
    createConnection: () => connection as never,
    perMessageDeflate: false,
    maxPayload: longestFrame,
    autoPong: false,
  });
  answerPings(inside);
  // Data that comes before the other side is ready waits in the connection.
  outside.pause();
  inside.once('open', () => outside.resume());
  join(outside, inside);
  join(inside, outside);
}

function join(from: WebSocket, to: WebSocket): void {
  from.on('message', (data, binary) => {
    from.pause();
    to.send(data as Buffer, { binary }, () => from.resume());
  });
  passPings(from, to);
  from.once('close', (code, reason) => {
    if (code === 1005) to.close();
    else if (code === 1006) to.terminate();
    else to.close(code, reason);
  });
  from.once('error', () => to.terminate());
}
