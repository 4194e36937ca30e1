import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { ServerContext } from '../context.js';
import { Outgoing } from '../outgoing.js';
import { parse } from './actions.js';

const cursor = z.coerce.number().int().nonnegative();
const query = z.object({ since: cursor.optional() });

/** Server-sent events: each has its cursor as id, so that a browser that reconnects asks for what it missed. */
export function eventRoutes(app: FastifyInstance, { events, limits }: ServerContext): void {
  app.get('/v1/events', async (request, reply) => {
    const { since } = parse(query, request.query);
    const last = request.headers['last-event-id'];
    let position = since ?? (last === undefined ? 0 : parse(cursor, last));
    reply.hijack();
    reply.raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    reply.raw.flushHeaders();
    const outgoing = new Outgoing(reply.raw);
    while (!outgoing.gone.aborted) {
      const event = events.after(position);
      if (event !== undefined) {
        const missed = event.id - position - 1;
        if (missed > 0) await outgoing.write(`event: gap\ndata: {"missed":${missed}}\n\n`);
        await outgoing.write(`id: ${event.id}\ndata: ${event.json}\n\n`);
        position = event.id;
      } else if (events.closed) break;
      else {
        await events.change(limits.heartbeatMs, outgoing.gone);
        if (events.after(position) === undefined) await outgoing.write(': quiet\n\n');
      }
    }
    await outgoing.end();
    return reply;
  });
}
