import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { connectToPort } from '../../../src/runtime/client/port.js';
import type { Link } from '../../../src/runtime/client/server-link.js';

/** Of the WebSocket protocol. */
const salt = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const frame = (code: number, payload: string) =>
  Buffer.concat([Buffer.from([0x80 | code, payload.length]), Buffer.from(payload)]);

test('what a program says at once arrives, also together with the end of the handshake', async () => {
  const server = createServer((socket) => {
    socket.once('data', (request) => {
      const key = /sec-websocket-key: (.+)\r/i.exec(String(request))?.[1] ?? '';
      const accept = createHash('sha1').update(`${key}${salt}`).digest('base64');
      const head = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`;
      socket.end(Buffer.concat([Buffer.from(head), frame(2, '220 ready\r\n'), frame(8, '')]));
    });
    socket.on('error', () => {});
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const link = {
    address: `http://127.0.0.1:${port}`,
    where: 'the server',
    headers: () => ({}),
    retrying: (attempt: () => Promise<unknown>) => attempt(),
    connect: async () => connect(port, '127.0.0.1'),
  };
  try {
    const stream = await connectToPort(link as unknown as Link, 25);
    expect(await text(stream)).toBe('220 ready\r\n');
  } finally {
    server.close();
  }
});
