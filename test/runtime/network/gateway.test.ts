/** The known ways around an egress gateway. Each gets a refusal next to an allowed neighbour. */
import { once } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { NetworkAnswer, NetworkAsker } from '../../../src/protocol/index.js';
import { seededRandom } from '../../seed.js';
import { clientHello, openGateway, openTcp, openWeb, question, readAll } from './open-gateway.js';

const echo = () =>
  openWeb((request, response) => response.end(`${request.method} ${request.headers.host}${request.url}`));
const get = (host: string, path = '/') =>
  `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
const alert = '\x15\x03\x03\x00\x02\x02\x31';

test('empty rules allow nothing', async () => {
  const { say, events } = await openGateway({});
  expect(await say('example.test', 80, get('example.test'))).toContain('403 Forbidden');
  expect(await say('example.test', 443, clientHello('example.test'))).toBe(alert);
  expect(events).toMatchObject([
    { outcome: 'refused', host: 'example.test', port: 80 },
    { outcome: 'refused', host: 'example.test', port: 443 },
  ]);
});

test('an allowed host is reached, and its connection is recorded with its bytes', async () => {
  const { say, event } = await openGateway({ allow: ['web.test'], hosts: { 'web.test': await echo() } });
  expect(await say('web.test', 80, get('web.test', '/a'))).toMatch(/200 OK[\s\S]*GET web\.test\/a$/);
  expect(await event('opened')).toMatchObject({
    host: 'web.test',
    port: 80,
    rule: 'web.test',
    address: '127.0.0.1',
  });
  const closed = await event('closed');
  expect(closed).toMatchObject({ host: 'web.test', via: 'direct' });
  expect(closed.sentBytes).toBeGreaterThan(20);
  expect(closed.receivedBytes).toBeGreaterThan(20);
});

test('a refusal says what was refused and how to ask for it', async () => {
  const { say } = await openGateway({ allow: ['web.test'] });
  const [, body = ''] = (await say('other.test', 80, get('other.test'))).split('\r\n\r\n');
  expect(JSON.parse(body)).toMatchObject({
    error: 'refused-by-network-rules',
    host: 'other.test',
    port: 80,
    howToAllow: expect.stringContaining('--allow other.test:80'),
  });
});

test('deny wins over allow', async () => {
  const hosts = { 'a.web.test': await echo(), 'b.web.test': await echo() };
  const { say } = await openGateway({ allow: ['*.web.test'], deny: ['b.web.test'], hosts });
  expect(await say('a.web.test', 80, get('a.web.test'))).toContain('200 OK');
  expect(await say('b.web.test', 80, get('b.web.test'))).toContain('403');
});

test('the second request of a connection is judged like the first', async () => {
  const place = await echo();
  const { dial } = await openGateway({
    allow: ['web.test'],
    hosts: { 'web.test': place, 'evil.test': place },
  });
  const socket = await dial('web.test', 80);
  socket.write(`GET /1 HTTP/1.1\r\nHost: web.test\r\n\r\n${get('evil.test', '/2')}`);
  const answers = await readAll(socket);
  expect(answers).toContain('GET web.test/1');
  expect(answers).not.toContain('evil.test/2');
  expect(answers).toContain('403');
});

test.each([
  [
    'a second Host header',
    'GET / HTTP/1.1\r\nHost: web.test\r\nHost: evil.test\r\nConnection: close\r\n\r\n',
  ],
  ['a whole address', 'GET http://evil.test/ HTTP/1.1\r\nHost: web.test\r\nConnection: close\r\n\r\n'],
  ['no Host', 'GET / HTTP/1.0\r\n\r\n'],
  ['another port', get('web.test:8080')],
  ['CONNECT', 'CONNECT web.test:443 HTTP/1.1\r\nHost: web.test:443\r\n\r\n'],
  ['an upgrade to HTTP/2', 'GET / HTTP/1.1\r\nHost: web.test\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'],
  ['HTTP/2 from the start', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  [
    'two framings',
    'POST / HTTP/1.1\r\nHost: web.test\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['a user in the Host', get('web.test@evil.test')],
  ['no HTTP at all', 'web.test\r\n'],
])('%s in a request to an allowed host is refused', async (_what, bytes) => {
  const { say } = await openGateway({ allow: ['web.test'], hosts: { 'web.test': await echo() } });
  expect(await say('web.test', 80, bytes)).not.toContain('200 OK');
  expect(await say('web.test', 80, get('web.test'))).toContain('200 OK');
});

test('TLS goes to the host that it names, and only where that is the one connected to', async () => {
  const place = await openTcp((socket) =>
    socket.once('data', (bytes) => socket.end(`${bytes.length} bytes`)),
  );
  const hosts = { 'web.test': place, 'other.test': place };
  const { say, event } = await openGateway({ allow: ['web.test', 'other.test'], hosts });
  const hello = clientHello('web.test');
  expect(await say('web.test', 443, hello)).toBe(`${hello.length} bytes`);
  expect(await say('web.test', 443, clientHello('WEB.test.'))).toContain('bytes');
  expect(await say('web.test', 443, clientHello('other.test'))).toBe(alert);
  expect(await say('web.test', 443, clientHello())).toBe(alert);
  expect(await say('web.test', 443, clientHello('web.test', 'other.test'))).toBe(alert);
  expect(await say('web.test', 443, clientHello('web.test\0.evil.test'))).toBe(alert);
  expect(await event('refused')).toMatchObject({
    host: 'web.test',
    reason: 'the TLS hello names other.test',
  });
});

test('a name for an address that the program knows by itself is dialled by name', async () => {
  const place = await openTcp((socket) => socket.once('data', () => socket.end('the server of web.test')));
  const { say, event } = await openGateway({ allow: ['web.test'], hosts: { 'web.test': place } });
  expect(await say('203.0.113.9', 443, clientHello('web.test'))).toBe('the server of web.test');
  expect(await event('opened')).toMatchObject({ host: 'web.test', address: '127.0.0.1' });
  expect(await say('203.0.113.9', 443, clientHello('evil.test'))).toBe(alert);
  expect(await say('203.0.113.9', 443, clientHello())).toBe(alert);
  expect(await say('::ffff:203.0.113.9', 80, get('203.0.113.9'))).toContain('403');
});

test('a hello in pieces and in several records is read whole', async () => {
  const place = await openTcp((socket) => socket.once('data', () => socket.end('here')));
  const { dial } = await openGateway({ allow: ['web.test'], hosts: { 'web.test': place } });
  const hello = clientHello('web.test');
  const body = hello.subarray(5);
  const record = (bytes: Buffer) => Buffer.concat([Buffer.from([22, 3, 1, 0, bytes.length]), bytes]);
  const split = Buffer.concat([record(body.subarray(0, 9)), record(body.subarray(9))]);
  const socket = await dial('web.test', 443);
  socket.setNoDelay(true);
  for (const byte of split) {
    socket.write(Buffer.from([byte]));
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await readAll(socket)).toBe('here');
});

test('servers that greet first work on the ports that rules name', async () => {
  const place = await openTcp((socket) => {
    socket.write('SSH-2.0-server\r\n');
    socket.on('data', (bytes) => socket.end(`got ${bytes}`));
  });
  const { dial, say } = await openGateway({ allow: ['git.test:22'], hosts: { 'git.test': place } });
  const socket = await dial('git.test', 22);
  const [greeting] = await once(socket, 'data');
  expect(String(greeting)).toBe('SSH-2.0-server\r\n');
  socket.write('SSH-2.0-client\r\n');
  expect(await readAll(socket)).toBe('got SSH-2.0-client\r\n');
  expect(await say('git.test', 80, get('git.test'))).toContain('no rule allows this port');
});

test('a program that only listens hears the server, and ends with it', async () => {
  const server = await openTcp((socket) => {
    socket.resume().once('end', () => socket.end('goodbye\n'));
  });
  const { dial } = await openGateway({ allow: ['quiet.test:22'], hosts: { 'quiet.test': server } });
  const socket = await dial('quiet.test', 22);
  socket.end();
  expect((await readAll(socket)).toString()).toBe('goodbye\n');
});

test('what a program says behind the greeting of a server is still for that server only', async () => {
  const place = await openTcp((socket) => {
    socket.write('hello\r\n');
    socket.on('data', () => socket.end('served'));
  });
  const { dial } = await openGateway({ allow: ['mail.test:25'], hosts: { 'mail.test': place } });
  const socket = await dial('mail.test', 25);
  await once(socket, 'data');
  socket.write(clientHello('evil.test'));
  expect(await readAll(socket)).not.toContain('served');
});

test('plain HTTP is judged by its Host on every port', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const place = await openTcp((socket) =>
    socket.once('data', () => socket.end('reached')).once('end', () => socket.end()),
  );
  const web = await echo();
  const { dial, say } = await openGateway({
    allow: ['app.test:8080', 'web.test:8080'],
    hosts: { 'app.test': place, 'web.test': web },
  });
  expect(await say('app.test', 8080, `\r\n${get('evil.test')}`)).toContain('403');
  // A pause after some of a line, one longer than any, one byte by byte, and HTTP/2 behind a pause.
  for (const parts of [
    ['GE', `T / HTTP/1.1\r\nHost: evil.test\r\n\r\n`],
    ['\n', get('evil.test')],
    [get('evil.test', `/${'a'.repeat(9000)}`)],
    ['GET /', ...'a'.repeat(1100)],
    ['', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['PRI * HTTP', '/2.0\r\n\r\nSM\r\n\r\n'],
  ]) {
    const socket = await dial('app.test', 8080);
    socket.setNoDelay(true);
    const ended = readAll(socket);
    for (const [index, part] of parts.entries()) {
      if (part !== '') socket.write(part);
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
      if (index === 0) vi.advanceTimersByTime(160);
    }
    socket.end();
    expect(await ended).not.toContain('reached');
  }
  expect(await say('web.test', 8080, `\r\n${get('web.test:8080', '/b')}`)).toContain('GET web.test:8080/b');
});

test('addresses that are not public need a rule of their own, also behind a name', async () => {
  const place = await openTcp((socket) => socket.end('inside'));
  const [, port = ''] = place.split(':');
  // The resolver of this machine leads localhost to the loopback.
  const named = await openGateway({ allow: [`localhost:${port}`, `0.0.0.0/0:${port}`] });
  const asked = named.gateway;
  expect(asked.rules().allow).toHaveLength(2);
  const socksTo = (host: string) =>
    Buffer.concat([
      Buffer.from([5, 1, 0, 5, 1, 0, 3, host.length]),
      Buffer.from(host),
      Buffer.from([Number(port) >> 8, Number(port) & 255]),
    ]);
  expect(await named.say('127.0.0.1', 1080, socksTo('localhost'))).not.toContain('inside');
  expect(await named.event('refused')).toMatchObject({ reason: expect.stringContaining('loopback') });
  expect(await named.say('127.0.0.1', 1080, socksTo('0x7f.1'))).not.toContain('inside');
  const ruled = await openGateway({ allow: [`localhost:${port}`, `127.0.0.1:${port}`] });
  expect(await ruled.say('127.0.0.1', 1080, socksTo('localhost'))).toContain('inside');
  expect(await ruled.say('127.0.0.1', Number(port), 'x')).toContain('inside');
});

test('metadata services are never reached, whatever the rules say', async () => {
  const { say, event } = await openGateway({ allow: ['169.254.169.254', '169.254.0.0/16', '0.0.0.0/0'] });
  for (const address of ['169.254.169.254', '::ffff:169.254.169.254']) {
    expect(await say(address, 80, get('169.254.169.254'))).toContain('403');
    expect(await event('refused')).toMatchObject({ reason: 'metadata services are never reached' });
  }
});

test('SOCKS takes names without tricks', async () => {
  const place = await openTcp((socket) => socket.once('data', () => socket.end('here')));
  const { dial } = await openGateway({ allow: ['web.test:22'], hosts: { 'web.test': place } });
  const ask = async (name: string) => {
    const socket = await dial('127.0.0.1', 1080);
    socket.write(
      Buffer.concat([
        Buffer.from([5, 1, 0, 5, 1, 0, 3, name.length]),
        Buffer.from(name, 'latin1'),
        Buffer.from([0, 22]),
        Buffer.from('x'),
      ]),
    );
    return readAll(socket);
  };
  expect(await ask('web.test')).toMatch(/^\x05\x00\x05\x00[\s\S]{8}here$/);
  expect(await ask('evil.test\0.web.test')).toMatch(/^\x05\x00\x05\x08/);
  expect(await ask('evil.test')).toMatch(/^\x05\x00\x05\x02/);
  const old = await dial('127.0.0.1', 1080);
  old.write(Buffer.from([4, 1, 0, 80, 1, 2, 3, 4, 0]));
  expect(await readAll(old)).toBe('');
});

test('the proxy judges what is inside a tunnel too', async () => {
  const place = await openTcp((socket) => socket.once('data', () => socket.end('here')));
  const { dial } = await openGateway({
    allow: ['web.test', 'other.test'],
    hosts: { 'web.test': place, 'other.test': place },
  });
  const ask = async (authority: string, inside: Buffer) => {
    const socket = await dial('127.0.0.1', 3128);
    socket.write(
      Buffer.concat([Buffer.from(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`), inside]),
    );
    return readAll(socket);
  };
  expect(await ask('web.test:443', clientHello('web.test'))).toMatch(/200 [\s\S]*here$/);
  expect(await ask('web.test:443', clientHello('other.test'))).not.toContain('here');
  expect(await ask('evil.test:443', clientHello('evil.test'))).toContain('403 Forbidden');
  expect(await ask('web.test:22', clientHello('web.test'))).toContain('403 Forbidden');
  expect(await ask('[::ffff:127.0.0.1]:443', clientHello())).toContain('403 Forbidden');
  // A relay in the cell that sends a CONNECT through a tunnel gets no further than the tunnel.
  expect(
    await ask('web.test:80', Buffer.from('CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test\r\n\r\n')),
  ).not.toContain('here');
});

test('the proxy takes whole addresses, and none that its Host header contradicts', async () => {
  const { say } = await openGateway({ allow: ['web.test'], hosts: { 'web.test': await echo() } });
  const through = (target: string, host: string) =>
    say('127.0.0.1', 3128, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  expect(await through('http://web.test/a', 'web.test')).toContain('GET web.test/a');
  expect(await through('http://web.test/a', 'evil.test')).toContain('403');
  expect(await through('http://evil.test/a', 'web.test')).toContain('403');
  expect(await through('https://web.test/a', 'web.test')).toContain('403');
  expect(await through('/a', 'web.test')).toContain('403');
});

test('tightening the rules ends what they no longer allow, and nothing else', async () => {
  const place = await openTcp((socket) => socket.on('data', (bytes) => socket.write(bytes)));
  const hosts = { 'a.test': place, 'b.test': place };
  const { gateway, dial, event } = await openGateway({ allow: ['a.test:7', 'b.test:7'], hosts });
  const [first, second] = [await dial('a.test', 7), await dial('b.test', 7)];
  for (const socket of [first, second]) {
    socket.write('x');
    await once(socket, 'data');
  }
  const ended = readAll(first);
  await gateway.change((rules) => ({ ...rules, deny: ['a.test'] }));
  expect(await ended).not.toContain('x');
  expect(await event('closed')).toMatchObject({ host: 'a.test', reason: 'the rules changed' });
  second.write('y');
  expect(String((await once(second, 'data'))[0])).toBe('y');
});

test('a limit on connections refuses the next one, and one on bytes ends them all', async () => {
  const place = await openTcp((socket) => socket.on('data', (bytes) => socket.write(bytes)));
  const { dial, say, event } = await openGateway({
    allow: ['a.test:7'],
    hosts: { 'a.test': place },
    limits: { connections: 1, sentBytes: 1000 },
  });
  const socket = await dial('a.test', 7);
  socket.write('x');
  await once(socket, 'data');
  expect(await say('a.test', 7, 'y')).toBe('reset');
  expect(await event('refused')).toMatchObject({ reason: 'the cell has 1 connections, which is its limit' });
  const ended = readAll(socket);
  socket.write(Buffer.alloc(2000));
  await ended;
  expect(await event('closed')).toMatchObject({ reason: 'the cell has sent 1000 bytes, which is its limit' });
  expect(await say('a.test', 7, 'z')).not.toContain('z');
  expect(await event('refused')).toMatchObject({
    reason: 'the cell has sent 1000 bytes, which is its limit',
  });
});

test('many quick requests, and many connections at once', async () => {
  const { dial, say, events } = await openGateway({
    allow: ['web.test'],
    hosts: { 'web.test': await echo() },
  });
  const quick = await Promise.all(
    Array.from({ length: 300 }, (_, index) => say('web.test', 80, get('web.test', `/${index}`))),
  );
  expect(quick.every((answer, index) => answer.endsWith(`web.test/${index}`))).toBe(true);
  const idle = await Promise.all(Array.from({ length: 300 }, () => dial('web.test', 80)));
  expect(await say('web.test', 80, get('web.test', '/last'))).toContain('/last');
  for (const socket of idle) socket.destroy();
  // The record has every one that reached a server.
  expect(events.filter(({ outcome }) => outcome === 'opened')).toHaveLength(301);
});

test('WebSockets pass once the server agrees', async () => {
  const place = await openTcp((socket) => {
    socket.once('data', (head) => {
      const wanted = /upgrade: websocket/i.test(String(head));
      socket.write(
        wanted
          ? 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
          : 'HTTP/1.1 400 Bad\r\n\r\n',
      );
      socket.on('data', (bytes) => socket.end(bytes));
    });
  });
  const { dial } = await openGateway({ allow: ['ws.test'], hosts: { 'ws.test': place } });
  const socket = await dial('ws.test', 80);
  socket.write('GET / HTTP/1.1\r\nHost: ws.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  const [head] = await once(socket, 'data');
  expect(String(head)).toContain('101 Switching Protocols');
  socket.write('frame');
  expect(await readAll(socket)).toBe('frame');
});

test('bodies of requests and answers pass whole, both ways', async () => {
  const place = await openWeb((request, response) => {
    response.writeHead(201, { 'X-Method': request.method });
    request.pipe(response);
  });
  const { say } = await openGateway({ allow: ['web.test'], hosts: { 'web.test': place } });
  const body = 'x'.repeat(100_000);
  const head = 'PUT / HTTP/1.1\r\nHost: web.test\r\nConnection: close\r\n';
  const sized = await say('web.test', 80, `${head}Content-Length: ${body.length}\r\n\r\n${body}`);
  expect(sized).toContain('X-Method: PUT');
  expect(sized.match(/x/g)?.length).toBeGreaterThanOrEqual(body.length);
  const chunked = await say(
    'web.test',
    80,
    `${head}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`,
  );
  expect(chunked).toContain('201');
  expect(chunked.replace(/\r\n[0-9a-f]+\r\n/g, '')).toMatch(/abc.*de/s);
  expect(
    await say('web.test', 80, `POST / HTTP/1.1\r\nHost: web.test\r\nConnection: close\r\n\r\n`),
  ).toContain('201');
});

test('what a server sent before it closed arrives, however slowly it is read', async () => {
  const size = 4_000_000;
  const place = await openTcp((socket) => {
    socket.resume();
    socket.once('end', () => socket.end(Buffer.alloc(size, 'x')));
  });
  const { dial } = await openGateway({ allow: ['a.test:7'], hosts: { 'a.test': place } });
  const socket = await dial('a.test', 7);
  socket.end('all I have to say');
  expect((await readAll(socket)).length).toBe(size);
});

test('a host that no rule is on is a question, asked once while it is open', async () => {
  const place = await echo();
  const hosts = { 'one.test': place, 'two.test': place, 'three.test': place, 'four.test': place };
  const { gateway, say, event } = await openGateway({ ask: true, deny: ['four.test'], hosts });
  expect(await say('one.test', 80, get('one.test'))).toContain('nobody is there to ask');
  const questions: string[] = [];
  const answers: Record<string, 'once' | 'cell' | 'deny'> = { 'one.test': 'once', 'two.test': 'cell' };
  gateway.answerWith(({ host, port }) => {
    questions.push(`${host}:${port}`);
    return answers[host] ?? 'deny';
  });
  expect(await say('one.test', 80, get('one.test'))).toContain('200 OK');
  expect(await say('one.test', 80, get('one.test'))).toContain('200 OK');
  expect(questions).toEqual(['one.test:80', 'one.test:80']);
  const twice = await Promise.all([
    say('two.test', 80, get('two.test')),
    say('two.test', 80, get('two.test')),
  ]);
  expect(twice.every((answer) => answer.includes('200 OK'))).toBe(true);
  expect(await say('two.test', 80, get('two.test'))).toContain('200 OK');
  expect(gateway.rules().allow).toEqual(['two.test:80']);
  expect(await say('three.test', 80, get('three.test'))).toContain('asked about and denied');
  expect(await say('three.test', 80, get('three.test'))).toContain('asked about and denied');
  expect(await say('four.test', 80, get('four.test'))).toContain('a rule denies it');
  expect(questions.slice(2)).toEqual(['two.test:80', 'three.test:80']);
  expect(await event('asked')).toMatchObject({ host: 'one.test', port: 80 });
});

test('an answer for one connection is for none of the others that wait for it', async () => {
  const { gateway, dial, event } = await openGateway({ ask: true, hosts: { 'one.test': await echo() } });
  const asked: ((answer: NetworkAnswer) => void)[] = [];
  let onAsked = () => {};
  gateway.answerWith(
    () =>
      new Promise((resolve) => {
        asked.push(resolve);
        onAsked();
      }),
  );
  const nextQuestion = () =>
    new Promise<void>((resolve) => {
      onAsked = resolve;
    });
  const sockets = await Promise.all([1, 2, 3].map(() => dial('one.test', 80)));
  // Two requests of one connection are of that connection.
  for (const socket of sockets)
    socket.write(get('one.test').replace('close', 'keep-alive') + get('one.test'));
  const answers = sockets.map(readAll);
  for (let waiting = 0; waiting < 3; waiting++) await event('asked');
  for (const answer of ['once', 'once', 'deny'] as const) {
    const next = nextQuestion();
    asked.shift()?.(answer);
    if (answer === 'once') await next;
  }
  const came = await Promise.all(answers);
  expect(came.map((text) => text.match(/200 OK/g)?.length ?? 0).sort()).toEqual([0, 2, 2]);
});

test('only the words that allow do, and an asker that fails refuses', async () => {
  const { gateway, say } = await openGateway({ ask: true, hosts: { 'one.test': await echo() } });
  const askers: unknown[] = [async () => 'yes', async () => true, () => Promise.reject(new Error('gone'))];
  for (const asker of askers) {
    gateway.answerWith(asker as NetworkAsker);
    expect(await say('one.test', 80, get('one.test'))).toContain('403');
    await gateway.change((rules) => rules);
  }
});

test('an answer opens the host, not the addresses behind it that need a rule of their own', async () => {
  const { gateway, say } = await openGateway({ ask: true });
  gateway.answerWith(() => 'cell');
  const socks = Buffer.concat([
    Buffer.from([5, 1, 0, 5, 1, 0, 3, 9]),
    Buffer.from('localhost'),
    Buffer.from([0, 80]),
  ]);
  expect(await say('127.0.0.1', 1080, Buffer.concat([socks, Buffer.from(get('localhost'))]))).toContain(
    'rule of its own',
  );
});

test('a server that does not answer is told apart from a refusal', async () => {
  const { say, event } = await openGateway({ allow: ['gone.test'], hosts: { 'gone.test': '127.0.0.1:1' } });
  expect(await say('gone.test', 80, get('gone.test'))).toMatch(/502[\s\S]*unreachable/);
  expect(await event('failed')).toMatchObject({ host: 'gone.test' });
  expect(await say('gone.test', 443, clientHello('gone.test'))).toBe('reset');
});

test('an address that stands for no name leads nowhere', async () => {
  const { say } = await openGateway({ allow: ['**', '198.18.0.0/15'] });
  expect(await say('198.18.77.77', 443, clientHello('web.test'))).toBe(alert);
});

test('the stub never asks anybody about a name that no rule allows, and knows only IPv4', async () => {
  const { gateway, addressOf } = await openGateway({
    allow: ['web.test'],
    hosts: { 'web.test': '127.0.0.1' },
  });
  const address = await addressOf('web.test');
  expect(address).toMatch(/^198\.1[89]\./);
  expect(await addressOf('WEB.test')).toBe(address);
  // `.test` does not exist, so an answer shows that the gateway asked nobody.
  expect(await addressOf('secret-data.evil.test')).toMatch(/^198\.1[89]\./);
  const codeOf = async (name: string, type?: number) =>
    ((await gateway.query(question(name, type)))?.readUInt16BE(2) ?? 15) & 15;
  const answersOf = async (name: string, type?: number) =>
    (await gateway.query(question(name, type)))?.readUInt16BE(6);
  expect([
    await answersOf('web.test', 28),
    await answersOf('web.test', 65),
    await answersOf('web.test', 16),
  ]).toEqual([0, 0, 0]);
  expect([
    await codeOf('1.0.0.127.in-addr.arpa', 12),
    await codeOf('printer'),
    await codeOf('evil\0.web.test'),
    await codeOf('127.1'),
  ]).toEqual([3, 3, 3, 3]);
});

test('no message makes the readers of DNS, TLS and SOCKS throw or wait for ever', async () => {
  const { gateway, dial } = await openGateway({ allow: ['web.test'], hosts: { 'web.test': '127.0.0.1:1' } });
  const random = seededRandom();
  const seeds = [question('web.test'), clientHello('web.test')];
  for (let index = 0; index < 2000; index++) {
    const bytes = Buffer.from(seeds[index % 2] as Buffer);
    for (let change = 0; change < 3; change++) bytes[random.int(bytes.length)] = random.int(256);
    await gateway.query(bytes.subarray(0, random.int(bytes.length + 1)));
  }
  await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      const socket = await dial(index % 2 === 0 ? 'web.test' : '127.0.0.1', index % 2 === 0 ? 443 : 1080);
      const bytes = clientHello('web.test');
      bytes[random.int(bytes.length)] = random.int(256);
      socket.end(bytes);
      await readAll(socket);
    }),
  );
});
