/** A denial stays, whoever changes the rules at the same time. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { NetworkAnswer, NetworkRecord } from '../../../src/protocol/index.js';
import { RuntimeNetwork } from '../../../src/runtime/runtime-network.js';
import { clientHello, openGateway, openTcp, openWeb, readAll } from './open-gateway.js';

const get = (host: string) => `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;

test('a denial while an answer opens ports is not lost, and both are recorded', async () => {
  const { gateway, dial } = await openGateway({ ask: true });
  const records: NetworkRecord[] = [];
  const network = new RuntimeNetwork(
    gateway,
    (event) => records.push(event),
    () => 'cell',
  );
  let opened = () => {};
  const opening = new Promise<void>((begun) => {
    gateway.bind(() => {
      begun();
      return new Promise<void>((resolve) => {
        opened = resolve;
      });
    });
  });
  const socket = await dial('asked.test', 80);
  socket.write(get('asked.test'));
  await opening;
  gateway.bind(async () => {});
  const denied = network.deny('evil.test');
  opened();
  await denied;
  expect(network.rules()).toMatchObject({ allow: ['asked.test:80'], deny: ['evil.test'] });
  expect(records.filter(({ outcome }) => outcome === 'changed')).toMatchObject([
    { rules: { allow: ['asked.test:80'], deny: [] } },
    { rules: { allow: ['asked.test:80'], deny: ['evil.test'] } },
  ]);
});

test('a denial holds while the question is open, and no server is dialled', async () => {
  let dialled = 0;
  const place = await openTcp(() => dialled++);
  const { gateway, dial } = await openGateway({ ask: true, hosts: { 'a.test': place } });
  let answer: (given: NetworkAnswer) => void = () => {};
  const asked = new Promise<void>((begun) => {
    gateway.answerWith(() => {
      begun();
      return new Promise((resolve) => {
        answer = resolve;
      });
    });
  });
  const socket = await dial('a.test', 80);
  socket.write(get('a.test'));
  await asked;
  await gateway.change((rules) => ({ ...rules, deny: ['a.test'] }));
  answer('cell');
  expect(await readAll(socket)).toContain('a rule denies it');
  expect(dialled).toBe(0);
});

test('denials hold before ports are opened, and stay when these cannot be had', async () => {
  const place = await openTcp((socket) => socket.on('data', (bytes) => socket.write(bytes)));
  const { gateway, dial } = await openGateway({ allow: ['a.test:7'], hosts: { 'a.test': place } });
  const socket = await dial('a.test', 7);
  socket.write('x');
  await once(socket, 'data');
  const ended = readAll(socket);
  gateway.bind(async () => {
    await ended;
    throw new Error('no such port');
  });
  const changed = gateway.change((rules) => ({ ...rules, allow: ['b.test:9'], deny: ['a.test'] }));
  await expect(changed).rejects.toThrow('no such port');
  expect(gateway.rules()).toMatchObject({ allow: ['a.test:7'], deny: ['a.test'] });
});

test('other rules do not take back what the settings deny', async () => {
  const { gateway } = await openGateway({ deny: ['evil.test', 'code.test'] });
  const network = new RuntimeNetwork(gateway, () => {}, undefined, ['evil.test']);
  await network.set({ allow: ['**'] });
  expect(network.rules()).toMatchObject({ allow: ['**'], deny: ['evil.test'] });
});

test('a denied address is not dialled for a name that the owner leads to it', async () => {
  const place = await openTcp((socket) => socket.on('data', (bytes) => socket.write(bytes)));
  const [, port = ''] = place.split(':');
  const { gateway, dial, say, event } = await openGateway({
    allow: ['a.test:7'],
    hosts: { 'a.test': place },
  });
  const socket = await dial('a.test', 7);
  socket.write('x');
  await once(socket, 'data');
  const ended = readAll(socket);
  await gateway.change((rules) => ({ ...rules, deny: [`127.0.0.0/8:${port}`] }));
  await ended;
  expect(await say('a.test', 7, 'y')).not.toContain('y');
  expect(await event('refused')).toMatchObject({ host: 'a.test', reason: 'a rule denies its address' });
});

describe('a denied name at an address that is allowed', () => {
  const alert = '\x15\x03\x03\x00\x02\x02\x31';
  const portOf = (place: string) => Number(place.split(':')[1]);
  const openCell = async (place: string, deny: string[] = []) => {
    const cell = await openGateway({ allow: [place], deny });
    const port = portOf(place);
    return {
      ...cell,
      deny: (name: string) =>
        cell.gateway.change((rules) => ({ ...rules, deny: [...(rules.deny ?? []), name] })),
      tell: (bytes: string | Buffer) => cell.say('127.0.0.1', port, bytes),
      /** Speaks, and waits for an answer. */
      talk: async (bytes: string | Buffer): Promise<Socket> => {
        const socket = await cell.dial('127.0.0.1', port);
        socket.write(bytes);
        await once(socket, 'data');
        return socket;
      },
      port,
    };
  };
  const isAlive = async (socket: Socket) => {
    socket.write('more');
    await once(socket, 'data');
  };
  const answering = () => openTcp((socket) => socket.on('data', () => socket.write('reached')));
  /** The gateway never takes a program for one that waits for its server. */
  const holdTimers = () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
  };

  test('is refused in a TLS hello, and so is a hello that nobody can read', async () => {
    holdTimers();
    const { tell, talk, event } = await openCell(await answering(), ['evil.test', '*.evil.test']);
    expect(await tell(clientHello('evil.test'))).toBe(alert);
    expect(await event('refused')).toMatchObject({ host: 'evil.test', rule: 'evil.test' });
    const hello = clientHello('a.EVIL.test').subarray(5);
    const pieces = [...hello].flatMap((byte) => [22, 3, 1, 0, 1, byte]);
    for (const bytes of [clientHello('good.test', 'evil.test'), Buffer.from(pieces)])
      expect(await tell(bytes)).toBe(alert);
    for (const bytes of [clientHello('good.test'), clientHello(), 'neither TLS nor HTTP'])
      await isAlive(await talk(bytes));
  });

  test('is refused in every request of a connection, and other hosts are asked for at the address', async () => {
    holdTimers();
    const place = await openWeb((request, response) => response.end(`came to ${request.headers.host}`));
    const { tell, event, port } = await openCell(place, ['evil.test']);
    const request = (host: string) => `GET / HTTP/1.1\r\nHost: ${host}\r\n`;
    const last = 'Connection: close\r\n\r\n';
    const answers = await tell(`${request('good.test')}\r\n${request(`evil.test:${port}`)}${last}`);
    expect(answers).toMatch(/200 OK.*came to good\.test.*403 Forbidden/s);
    expect(answers).toContain('a rule denies it');
    expect(await event('opened')).toMatchObject({ host: '127.0.0.1', rule: place });
    expect(await tell(`${request('127.0.0.1')}${last}`)).toContain('200 OK');
    for (const bytes of ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', `GET / HTTP/1.0\r\n\r\n`])
      expect(await tell(bytes)).not.toContain('came');
  });

  test('ends what may be for it, and nothing else', async () => {
    holdTimers();
    const { talk, deny } = await openCell(await answering());
    const evil = await talk(clientHello('evil.test'));
    const unread = await talk('GET / HTTP/1.1\r\nHost: good.test\r\n\r\n');
    const others = await Promise.all([clientHello('good.test'), clientHello(), 'neither'].map(talk));
    const ended = [evil, unread].map(readAll);
    await deny('evil.test');
    await Promise.all(ended);
    await Promise.all(others.map(isAlive));
  });

  test('ends a WebSocket to it', async () => {
    holdTimers();
    const agreed = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
    const { talk, deny } = await openCell(
      await openTcp((socket) => socket.on('data', () => socket.write(agreed))),
      ['another.test'],
    );
    const to = (host: string) =>
      `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
    const [evil, good] = [await talk(to('evil.test')), await talk(to('good.test'))];
    const ended = readAll(evil);
    await deny('evil.test');
    await ended;
    await isAlive(good);
  });

  test('is refused behind the greeting of a server', async () => {
    const place = await openTcp((socket) => {
      socket.write('greeting');
      socket.on('data', () => socket.write('reached'));
    });
    const { dial, port, deny } = await openCell(place, ['evil.test']);
    const greeted = async () => {
      const socket = await dial('127.0.0.1', port);
      await once(socket, 'data');
      return socket;
    };
    const [evil, good, quiet] = [await greeted(), await greeted(), await greeted()];
    const refused = readAll(evil);
    evil.write(clientHello('evil.test'));
    expect(await refused).not.toContain('reached');
    good.write(clientHello('good.test'));
    await once(good, 'data');
    const ended = readAll(good);
    await deny('good.test');
    await ended;
    await isAlive(quiet);
  });
});

test('requests to a name are judged at an address that is allowed, and go where the name leads', async () => {
  const named = await openWeb((_request, response) => response.end('by name'));
  const other = await openWeb((_request, response) => response.end('by address'));
  const port = Number(other.split(':')[1]);
  const { say } = await openGateway({
    allow: [other],
    requests: [{ host: `api.test:${port}`, methods: ['GET'] }],
    hosts: { 'api.test': named },
  });
  const tell = (method: string, host: string) =>
    say('127.0.0.1', port, `${method} / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  expect(await tell('DELETE', 'api.test')).toContain('no rule allows the method DELETE');
  expect(await tell('GET', 'api.test')).toContain('by name');
  expect(await tell('DELETE', 'good.test')).toContain('by address');
});

test('requests to an address are judged, and what cannot be read there is refused', async () => {
  const place = await openWeb((_request, response) => response.end('reached'));
  const port = Number(place.split(':')[1]);
  const { say } = await openGateway({ requests: [{ host: place, methods: ['GET'] }] });
  const tell = (bytes: string | Buffer) => say('127.0.0.1', port, bytes);
  const asking = (method: string, host: string) =>
    tell(`${method} / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  expect(await asking('GET', '127.0.0.1')).toContain('reached');
  for (const host of ['127.0.0.1', 'good.test'])
    expect(await asking('DELETE', host)).toContain('no rule allows the method DELETE');
  for (const bytes of [clientHello('good.test'), clientHello(), 'neither\r\n'])
    expect(await tell(bytes)).not.toContain('HTTP');
});
