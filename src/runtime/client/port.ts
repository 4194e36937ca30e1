/** A connection to a port inside the cell, over a WebSocket. */
import type { Duplex } from 'node:stream';
import { createWebSocketStream } from 'ws';
import { openSocket } from './client-socket.js';
import type { Link } from './server-link.js';

export async function connectToPort(link: Link, port: number): Promise<Duplex> {
  const { socket, failed } = await openSocket(link, `/v1/ports/${port}`);
  // From the start: what a program says at once can arrive together with the end of the handshake.
  const stream = createWebSocketStream(socket);
  // A broken connection must not end this process; the holder of the stream sees it close.
  stream.on('error', () => {});
  const opened = new Promise<void>((resolve) => socket.once('open', resolve));
  await Promise.race([opened, failed]);
  return stream;
}
