/** Large transfers: their pieces share memory, and large bodies pass by the parser of HTTP. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { takePieces, withLargeReads } from '../../../src/runtime/network/large-reads.js';
import { pass } from '../../../src/runtime/network/tie.js';
import { openGateway, openTcp, openWeb, readAll } from './open-gateway.js';

const mebibyte = 2 ** 20;
const content = randomBytes(12 * mebibyte);
const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

const get = (extra = '') => `GET / HTTP/1.1\r\nHost: web.test\r\n${extra}\r\n`;
const head = (length: number) => `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`;

/** Reads `bytes` bytes, with a pause after each piece, so that what is written to the reader has to wait. */
async function readSlowly(socket: Socket, bytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let read = 0;
  while (read < bytes) {
    const piece = socket.read() as Buffer | null;
    if (piece === null) await once(socket, 'readable');
    else read += pieces.push(piece) && piece.length;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return Buffer.concat(pieces);
}

async function readExactly(socket: Socket, bytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let left = bytes; left > 0; ) {
    const piece = socket.read(Math.min(left, Math.max(1, socket.readableLength))) as Buffer | null;
    if (piece === null) await once(socket, 'readable');
    else {
      pieces.push(piece);
      left -= piece.length;
    }
  }
  return Buffer.concat(pieces);
}

test.each(['a server that speaks first', 'one that answers'])('from %s arrive as they were', async (kind) => {
  const place = await openTcp((socket) => {
    if (kind === 'one that answers') socket.once('data', () => socket.end(content));
    else socket.end(content);
  });
  const { dial } = await openGateway({ allow: ['web.test:22'], hosts: { 'web.test': place } });
  const socket = await dial('web.test', 22);
  if (kind === 'one that answers') socket.write('go\r\n');
  const got = await readSlowly(socket, content.length);
  expect(hashOf(got)).toBe(hashOf(content));
});

test('over HTTP arrive as they were, and the next answers follow them', async () => {
  const place = await openWeb((request, response) => {
    response.setHeader('Content-Length', request.url === '/' ? content.length : 4);
    response.end(request.url === '/' ? content : 'next');
  });
  const { dial, event, gateway } = await openGateway({ allow: ['web.test'], hosts: { 'web.test': place } });
  const socket = await dial('web.test', 80);
  const small = get().replace('/ ', '/small ');
  socket.write(small + get() + small + get());
  const answers: Buffer[] = [];
  const next = async () => {
    let text = '';
    while (!text.endsWith('\r\n\r\n')) text += (await readExactly(socket, 1)).toString('latin1');
    return Number(/content-length: (\d+)/i.exec(text)?.[1]);
  };
  for (let count = 0; count < 4; count++) {
    const length = await next();
    answers.push(await readExactly(socket, length));
  }
  expect(answers.map(hashOf)).toEqual(
    [Buffer.from('next'), content, Buffer.from('next'), content].map(hashOf),
  );
  socket.destroy();
  await event('closed');
  expect(gateway.stats().receivedBytes).toBeGreaterThan(2 * content.length);
});

test('over HTTP that end too early end the connection, and do not look whole', async () => {
  const place = await openTcp((socket) => {
    socket.once('data', () =>
      socket.end(Buffer.concat([Buffer.from(head(content.length)), content.subarray(1)])),
    );
  });
  const { say } = await openGateway({ allow: ['web.test'], hosts: { 'web.test': place } });
  const text = await say('web.test', 80, get() + get());
  const [, body = ''] = text.split('\r\n\r\n', 2);
  expect(body.length).toBeLessThan(content.length);
  expect(text.split('HTTP/1.1')).toHaveLength(2);
});

test('over HTTP bring nothing of what a server sends beyond the length that it told', async () => {
  const hidden = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhidden';
  const place = await openTcp((socket) => {
    socket.on('data', () =>
      socket.write(Buffer.concat([Buffer.from(head(content.length)), content, Buffer.from(hidden)])),
    );
  });
  const { dial } = await openGateway({ allow: ['web.test'], hosts: { 'web.test': place } });
  const socket = await dial('web.test', 80);
  socket.write(get('Connection: close\r\n'));
  const text = await readAll(socket);
  expect(text).not.toContain('hidden');
  expect(text.endsWith(content.subarray(-64).toString('latin1'))).toBe(true);
});

test('end where the cell may receive no more', async () => {
  const place = await openTcp((socket) => {
    socket.once('data', () => socket.write(Buffer.concat([Buffer.from(head(content.length)), content])));
  });
  const limits = { receivedBytes: 6 * mebibyte };
  const { say, event } = await openGateway({ allow: ['web.test'], hosts: { 'web.test': place }, limits });
  const text = await say('web.test', 80, get());
  expect(text.length).toBeLessThan(limits.receivedBytes + 1024);
  expect(await event('closed')).toMatchObject({
    reason: `the cell has received ${limits.receivedBytes} bytes, which is its limit`,
  });
});

test('over HTTP never look whole where a limit took the last piece', async () => {
  const place = await openTcp((socket) => {
    socket.once('data', () => socket.write(Buffer.concat([Buffer.from(head(content.length)), content])));
  });
  const limits = { receivedBytes: content.length - 1 };
  const { say } = await openGateway({ allow: ['web.test'], hosts: { 'web.test': place }, limits });
  // It settles when the connection ends, which a whole answer would leave open.
  const text = await say('web.test', 80, get());
  expect(text.length).toBeLessThan(content.length);
});

/** A connection to a server that sends these bytes, with large reads. */
async function openReads(bytes: Buffer): Promise<Socket> {
  const server = createServer((socket) => socket.on('error', () => {}).end(bytes));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return withLargeReads((onread) => connect({ port, host: '127.0.0.1', onread }));
}

test('wait where nothing may pass, also when something else begins to read', async () => {
  const socket = await openReads(content);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  let written = 0;
  const program = new Writable({
    write(piece: Buffer, _encoding, done) {
      written += piece.length;
      done();
    },
  });
  pass(socket, program, () => 1_000_000);
  // As Node does by itself some turns after a connection was resumed.
  socket.read(0);
  while (socket.bytesRead === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(written).toBe(0);
});

test('small pieces that wait keep no large memory', async () => {
  const socket = await openReads(Buffer.from('x'));
  const kept: Buffer[] = [];
  takePieces(socket, (piece) => kept.push(piece) > 0);
  socket.resume();
  await once(socket, 'end');
  expect(kept.map(String)).toEqual(['x']);
  expect(kept[0]?.buffer.byteLength).toBeLessThanOrEqual(8192);
});

test('read nothing into the memory of a piece that waits', async () => {
  const socket = await openReads(content);
  const pieces: { piece: Buffer; done: () => void }[] = [];
  const waited: Buffer[] = [];
  takePieces(socket, (piece, done) => {
    pieces.push({ piece, done });
    // Most wait for a while, although nothing pauses the socket.
    if (pieces.length > 5)
      for (const { piece: old, done: free } of pieces.splice(0, 3)) {
        waited.push(Buffer.from(old));
        free();
      }
    return true;
  });
  socket.resume();
  await once(socket, 'end');
  const all = Buffer.concat([...waited, ...pieces.map(({ piece }) => piece)]);
  expect(hashOf(all)).toBe(hashOf(content));
  expect(Math.max(...waited.map(({ length }) => length))).toBe(2 ** 18);
});
