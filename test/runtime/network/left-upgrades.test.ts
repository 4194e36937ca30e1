/** Upgrades whose client leaves before they are answered. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openGateway, openTcp, openWeb } from './open-gateway.js';

/** A client, and the gateway's end of its connection, so that it can be told when that has ended. */
async function openClient({ gateway, addressOf }: Awaited<ReturnType<typeof openGateway>>) {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const accepted = once(server, 'connection');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
  const [inner] = (await accepted) as [Socket];
  gateway.accept(inner, { address: await addressOf('web.test'), port: 80 });
  return { client, inner };
}

const upgrade = (...lines: string[]) =>
  ['GET /ws HTTP/1.1', 'Host: web.test', 'Connection: Upgrade', 'Upgrade: websocket', ...lines, '', ''].join(
    '\r\n',
  );

test('are not sent', async () => {
  const seen: string[] = [];
  const place = await openWeb((request, response) => {
    seen.push(request.url ?? '');
    response.end();
  });
  let give = (_value: string) => {};
  let ask = () => {};
  const asked = new Promise<void>((resolve) => {
    ask = resolve;
  });
  const value = () =>
    new Promise<string>((resolve) => {
      give = resolve;
      ask();
    });
  const opened = await openGateway({ allow: ['web.test'], hosts: { 'web.test': place } }, [
    { name: 'TOKEN', hosts: ['http://web.test'], value },
  ]);
  const { client, inner } = await openClient(opened);
  client.write(upgrade(`X-Token: ${opened.gateway.opened?.placeholders.TOKEN}`));
  await asked;
  const closed = new Promise((resolve) => inner.on('error', () => {}).once('close', resolve));
  client.resetAndDestroy();
  await closed;
  give('value');
  // It comes later, so the upgrade would have been sent by then.
  await opened.say('web.test', 80, 'GET /later HTTP/1.1\r\nHost: web.test\r\nConnection: close\r\n\r\n');
  expect(seen).toEqual(['/later']);
});

test('end their connection to a server that answers without end', async () => {
  const place = await openTcp((socket) => {
    const more = () => {
      while (!socket.destroyed && socket.write('x'.repeat(65_536)));
    };
    socket.on('drain', more);
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n');
      more();
    });
  });
  const opened = await openGateway({ allow: ['web.test'], hosts: { 'web.test': place } });
  const { client } = await openClient(opened);
  client.write(upgrade());
  await once(client, 'data');
  client.resetAndDestroy();
  expect(await opened.event('closed')).toMatchObject({ host: 'web.test' });
});
