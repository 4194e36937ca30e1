import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createWebSocketStream } from 'ws';
import * as z from 'zod';
import { parse } from '../../../base/http/parse-request.js';
import { WorkcellError } from '../../../protocol/index.js';
import type { ContextOf, ServerContext } from '../server-context.js';

const parameters = z.object({ port: z.coerce.number().int().min(1).max(65_535) });

/** A connection to a port of the cell: binary frames are its bytes in both directions. */
export function portRoutes(app: FastifyInstance, contextOf: ContextOf): void {
  const waiting = new WeakMap<FastifyRequest, Duplex>();

  app.get(
    '/v1/ports/:port',
    {
      websocket: true,
      // Connect before the upgrade, to refuse a closed port with an error.
      preHandler: async (request) => {
        const { port } = parse(parameters, request.params);
        const inside = await open(contextOf(request), port);
        waiting.set(request, inside);
        request.raw.socket.once('close', () => inside.destroy());
      },
    },
    (socket, request) => {
      const inside = waiting.get(request);
      if (inside === undefined) return socket.close(1011);
      const outside = createWebSocketStream(socket);
      pipeline(outside, inside, () => {});
      pipeline(inside, outside, () => socket.close());
    },
  );
}

async function open(context: ServerContext, port: number): Promise<Duplex> {
  const executor = context.executor();
  if (executor.connect === undefined) {
    throw new WorkcellError('capability-unsupported', 'This cell cannot forward its ports.');
  }
  try {
    return (await executor.connect(port)) as Duplex;
  } catch (cause) {
    if (WorkcellError.isInstance(cause)) throw cause;
    throw new WorkcellError('not-found', `Nothing in the cell listens on port ${port}.`, {
      details: { port },
      cause,
    });
  }
}
