import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import * as z from 'zod';
import { Outgoing } from '../../../base/http/outgoing.js';
import { parse } from '../../../base/http/parse-request.js';
import { watchPeer } from '../../../base/http/upgrades.js';
import type { EventLog, LoggedEvent } from '../event-log.js';
import type { ContextOf, ServerContext } from '../server-context.js';

/** The id of an event. The start of the server before it keeps it apart from ids of another start. */
const cursorSchema = z
  .string()
  .regex(/^(?:\w{1,64}:)?\d{1,15}$/, 'must be the id of an event')
  .transform((text) => {
    const [id, instance] = text.split(':').reverse();
    return { id: Number(id), instance };
  });
const query = z.object({ since: cursorSchema.optional() });

type Cursor = z.output<typeof cursorSchema>;

/**
 * `restarted`: the cursor is from another start of the server, so we do not know how many events the client missed.
 */
type Gap = { missed: number } | { restarted: true };

/** Each event has its cursor as id, so that a browser that reconnects asks for what it missed. */
export function eventRoutes(app: FastifyInstance, contextOf: ContextOf): void {
  app.route({
    method: 'GET',
    url: '/v1/events',
    // Check before the socket opens, to refuse a bad cursor with an error.
    preHandler: async (request) => void cursorOf(request),
    handler: async (request, reply) => {
      const context = contextOf(request);
      const cursor = cursorOf(request);
      reply.hijack();
      reply.raw.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      });
      reply.raw.flushHeaders();
      const outgoing = new Outgoing(reply.raw);
      const { instance } = context.info;
      for await (const item of follow(context, cursor, outgoing.gone)) {
        if (item === undefined) await outgoing.write(': quiet\n\n');
        else if ('json' in item) await outgoing.write(`id: ${instance}:${item.id}\ndata: ${item.json}\n\n`);
        else await outgoing.write(`event: gap\ndata: ${JSON.stringify(item)}\n\n`);
      }
      await outgoing.end();
      return reply;
    },
    wsHandler: (socket, request) => sendAll(socket, contextOf(request), cursorOf(request)),
  });
}

async function sendAll(socket: WebSocket, context: ServerContext, cursor: Cursor): Promise<void> {
  watchPeer(socket);
  const gone = new AbortController();
  socket.once('close', () => gone.abort());
  for await (const item of follow(context, cursor, gone.signal)) {
    if (item === undefined) continue;
    const text = 'json' in item ? item.json : JSON.stringify({ kind: 'gap', ...item });
    // Wait for a slow reader; it finds a gap when it falls too far behind.
    await new Promise<void>((resolve) => socket.send(text, () => resolve()));
  }
  socket.close(1001);
}

function cursorOf(request: FastifyRequest): Cursor {
  const { since } = parse(query, request.query);
  return since ?? parse(cursorSchema, request.headers['last-event-id'] ?? '0');
}

/** Yields events as they come, gaps where it dropped some, and undefined at intervals while nothing happens. */
async function* follow(
  { events, info, limits }: { events: EventLog } & Pick<ServerContext, 'info' | 'limits'>,
  cursor: Cursor,
  gone: AbortSignal,
): AsyncGenerator<LoggedEvent | Gap | undefined> {
  const { instance = info.instance } = cursor;
  const foreign = instance !== info.instance || cursor.id > events.last;
  if (foreign) yield { restarted: true };
  let position = foreign ? 0 : cursor.id;
  while (!gone.aborted) {
    const event = events.after(position);
    if (event !== undefined) {
      const missed = event.id - position - 1;
      if (missed > 0) yield { missed };
      yield event;
      position = event.id;
    } else if (events.closed) break;
    else {
      await events.change(limits.heartbeatMs, gone);
      if (events.after(position) === undefined) yield undefined;
    }
  }
}
