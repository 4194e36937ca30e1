/** The bash socket: pushes every event as JSON, and starts the commands that a client sends. */

import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { WebSocket } from 'ws';
import { JsonError, parseJson } from '../../../base/json.js';
import type { Say } from '../../messages.js';
import { Problems, parse, Refusal, textOf } from '../detail-errors.js';
import type { FacadeContext } from '../facade-context.js';
import { words } from '../openhands-v1-messages.js';
import { admit } from '../socket-admission.js';
import { executeRequestSchema } from './commands.js';
import { formatTimestamp } from './timestamps.js';

const mostSubscribers = 50;

/** How much can wait in a connection; more stays with the events, which have their own limit. */
const windowBytes = 256 * 1024;

export function bashSocket(app: FastifyInstance, context: FacadeContext): void {
  const { events, say } = context;
  let subscribers = 0;
  app.get('/sockets/bash-events', { websocket: true, config: { keyless: true } }, (socket, request) => {
    const query = request.query as Record<string, unknown>;
    const wantsAll = query.resend_mode === 'all' || query.resend_all === 'true';
    admit(socket, request, context, {
      onAdmit() {
        if (subscribers >= mostSubscribers)
          return socket.close(1013, say(words('bash.too_many_subscribers')));
        subscribers++;
        socket.once('close', () => subscribers--);
        void push(socket, context, wantsAll ? 0 : events.last);
      },
      onFrame: (frame) => answer(socket, context, frame),
    });
  });
}

/** Follows the events from a position until the socket closes. A slow reader delays only itself. */
async function push(socket: WebSocket, { events }: FacadeContext, from: number): Promise<void> {
  const closed = new AbortController();
  socket.once('close', () => closed.abort());
  let position = from;
  while (socket.readyState === socket.OPEN) {
    const entry = events.after(position);
    if (entry === undefined) {
      await events.change(closed.signal);
      continue;
    }
    position = entry.sequence;
    // Send bytes: strings that wait for a slow reader grow the heap until the next full collection.
    const frame = Buffer.from(JSON.stringify(entry.event));
    if (socket.bufferedAmount < windowBytes) socket.send(frame, { binary: false });
    else await new Promise<void>((resolve) => socket.send(frame, { binary: false }, () => resolve()));
  }
}

function answer(socket: WebSocket, { commands, activity, say }: FacadeContext, frame: string): void {
  activity.touch();
  try {
    commands.start(parse(executeRequestSchema, parseJson(frame), 'body'));
  } catch (error) {
    const isInvalid = error instanceof JsonError || (error instanceof Refusal && error.status === 422);
    const problem = {
      kind: 'BashError',
      id: randomBytes(16).toString('hex'),
      timestamp: formatTimestamp(Date.now() * 1000),
      code: isInvalid ? 'ValidationError' : 'Error',
      detail: detailOf(error, say),
    };
    socket.send(JSON.stringify(problem));
  }
}

function detailOf(error: unknown, say: Say): string {
  if (error instanceof JsonError) return say(words('bash.bad_frame', { reason: error.message }));
  const problems = error instanceof Refusal && error.detail instanceof Problems && error.detail.list;
  return problems ? JSON.stringify(problems) : say(textOf(error));
}
