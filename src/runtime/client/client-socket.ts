/** A WebSocket to a route of the server, over the link's own connections. */
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { answerPings } from '../../base/pings.js';
import { disconnected, errorFrom } from './client-failures.js';
import { deferred } from './deferred.js';
import { readText } from './read-body.js';
import type { Link } from './server-link.js';

const errorBytes = 65_536;
/** Unless the caller takes larger ones. */
const longestFrame = 16 * 1024 * 1024;

/** `failed` rejects with the refusal, or with how the connection ended. */
export async function openSocket(
  link: Link,
  path: string,
  options: { maxPayload?: number } = {},
): Promise<{ socket: WebSocket; failed: Promise<never> }> {
  const stream = await link.retrying(() => link.connect());
  const socket = new WebSocket(`${link.address.replace(/^http/, 'ws')}${path}`, {
    createConnection: () => stream as Socket,
    headers: link.headers(),
    perMessageDeflate: false,
    maxPayload: longestFrame,
    ...options,
    autoPong: false,
  });
  answerPings(socket);
  const { promise: failed, reject } = deferred<never>();
  socket.on('error', (error) => reject(disconnected(link.where, error)));
  socket.once('close', () => reject(disconnected(link.where, new Error('the connection was closed'))));
  socket.once('unexpected-response', (_request, response) => {
    const { statusCode = 500 } = response;
    readText(response, errorBytes)
      .then((body) => reject(errorFrom(statusCode, body, link.wasThere())), reject)
      .finally(() => socket.terminate());
  });
  return { socket, failed };
}
