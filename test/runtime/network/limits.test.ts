/** Limits hold for connections to servers too: by a proxy, one connection of the cell can have many of them. */
import { once } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import { openGateway, openTcp, openWeb, readAll } from './open-gateway.js';

afterEach(() => void vi.useRealTimers());

const get = (name: string, extra = '') => `GET http://${name}/ HTTP/1.1\r\nHost: ${name}\r\n${extra}\r\n`;

test('one connection to the proxy holds no more connections than the cell may have', async () => {
  let held = 0;
  const silent = await openTcp(() => held++);
  const names = Array.from({ length: 10 }, (_, index) => `n${index}.web.test`);
  const { dial, event, gateway } = await openGateway({
    allow: ['*.web.test'],
    hosts: Object.fromEntries(names.map((name) => [name, silent])),
    limits: { connections: 2 },
  });
  const socket = await dial('127.0.0.1', 3128);
  socket.write(names.map((name) => get(name)).join(''));
  for (let refused = 0; refused < 8; refused++)
    expect(await event('refused')).toMatchObject({
      reason: 'the cell has 2 connections, which is its limit',
    });
  await event('opened');
  await event('opened');
  expect(gateway.stats().connections).toBe(2);
  expect(held).toBeLessThanOrEqual(2);
});

test('connections to servers are limited in a second', async () => {
  const silent = await openTcp(() => {});
  const { dial, event } = await openGateway({
    allow: ['*.web.test'],
    hosts: { 'a.web.test': silent, 'b.web.test': silent, 'c.web.test': silent },
    limits: { connectionsPerSecond: 1 },
  });
  const socket = await dial('127.0.0.1', 3128);
  socket.write(get('a.web.test') + get('b.web.test') + get('c.web.test'));
  expect(await event('refused')).toMatchObject({ reason: 'the cell may open 1 connections in a second' });
});

test('a connection to a server that carries no request makes room for the next host', async () => {
  const place = await openWeb((request, response) => response.end(`from ${request.headers.host}`));
  const { dial } = await openGateway({
    allow: ['a.test', 'b.test'],
    hosts: { 'a.test': place, 'b.test': place },
    limits: { connections: 1 },
  });
  const socket = await dial('127.0.0.1', 3128);
  for (const name of ['a.test', 'b.test', 'a.test']) {
    socket.write(get(name));
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toContain(`from ${name}`);
  }
});

test('a connection to the proxy that says nothing ends', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const place = await openWeb((_request, response) => response.end('answered'));
  const { dial, event } = await openGateway({ allow: ['a.test'], hosts: { 'a.test': place } });
  const [silent, halting, used] = [
    await dial('127.0.0.1', 3128),
    await dial('127.0.0.1', 3128),
    await dial('127.0.0.1', 3128),
  ];
  halting.write('GET http://a.te');
  used.write(get('a.test'));
  await event('opened');
  expect(String((await once(used, 'data'))[0])).toContain('answered');
  const ends = Promise.all([readAll(silent), readAll(halting)]);
  vi.advanceTimersByTime(30_000);
  await ends;
  used.write(get('a.test'));
  expect(String((await once(used, 'data'))[0])).toContain('answered');
  const end = readAll(used);
  vi.advanceTimersByTime(120_000);
  await end;
});
