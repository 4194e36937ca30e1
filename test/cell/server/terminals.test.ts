import { once } from 'node:events';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { eventually } from '../../../src/testing/contract/given.js';
import { authorized, serve } from './serve.js';

test('a program that does not read holds back who types, and gets all of it in the end', async () => {
  const bytes = 24 * 1024 * 1024;
  await using served = await serve();
  const socket = new WebSocket(`ws://127.0.0.1:${served.port}/v1/terminals`, { headers: authorized });
  await once(socket, 'open');
  let printed = '';
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) printed += data.toString();
  });
  const script = `mkfifo gate; stty raw -echo; echo deaf; read -r word < gate; head -c ${bytes} | wc -c`;
  socket.send(JSON.stringify({ type: 'open', argv: ['sh', '-c', script] }));
  await eventually(() => printed.includes('deaf'));
  for (let sent = 0; sent < bytes; sent += 65_536) socket.send(Buffer.alloc(65_536, 'a'));
  const post = (command: string) =>
    served.server.app.inject({
      method: 'POST',
      url: '/v1/actions',
      headers: authorized,
      payload: { action: 'run', command },
    });
  expect((await post('echo free')).json()).toMatchObject({ output: 'free\n' });
  expect(socket.bufferedAmount).toBeGreaterThan(bytes / 4);
  await post('echo go > gate');
  await once(socket, 'close');
  expect(printed).toContain(String(bytes));
});
