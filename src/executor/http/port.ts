/** A connection to a port inside the cell, over a WebSocket. */
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createWebSocketStream, WebSocket } from 'ws';
import { readText } from './body.js';
import { disconnected, errorFrom } from './failures.js';
import type { Link } from './link.js';

export async function connectToPort(link: Link, port: number): Promise<Duplex> {
  const stream = await link.retrying(() => link.connect());
  const socket = new WebSocket(`${link.origin.replace(/^http/, 'ws')}/v1/ports/${port}`, {
    createConnection: () => stream as Socket,
    headers: link.headers(),
    perMessageDeflate: false,
  });
  return new Promise((resolve, reject) => {
    socket.once('error', (error) => reject(disconnected(link.where, error)));
    socket.once('open', () => resolve(createWebSocketStream(socket)));
    socket.once('unexpected-response', (_request, response) => {
      const { statusCode = 500 } = response;
      readText(response, 65_536)
        .then((body) => reject(errorFrom(statusCode, body)), reject)
        .finally(() => socket.terminate());
    });
  });
}
