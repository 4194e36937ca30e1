/** Further ways around a gateway, each next to a neighbour that is allowed: rebinding, disguises, upgrades, old connections. */
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { type IpAddress, parseAddress } from '../../../src/protocol/network/address.js';
import { parseHost } from '../../../src/protocol/network/host.js';
import { networkRulesSchema } from '../../../src/protocol/network/network-schema.js';
import { dial } from '../../../src/runtime/network/dial.js';
import { Lookups } from '../../../src/runtime/network/lookups.js';
import { NetworkPolicy } from '../../../src/runtime/network/network-policy.js';
import { encryptedHello, openGateway, openTcp, openWeb, question, readAll } from './open-gateway.js';

const echo = () => openWeb((request, response) => response.end(`came to ${request.headers.host}`));
const portOf = (place: string) => Number(place.split(':')[1]);

test('a name whose answer changes is judged by the answer that is dialled', async () => {
  const port = portOf(await openTcp((socket) => socket.end('here')));
  const policy = new NetworkPolicy(
    networkRulesSchema.parse({ allow: [`web.test:${port}`, `127.0.0.1:${port}`] }),
  );
  const answers = [
    ['127.0.0.1'],
    ['10.0.0.1', '169.254.169.254', '::ffff:10.0.0.2'],
    ['10.0.0.1', '127.0.0.1'],
  ];
  let asked = 0;
  const resolver = () =>
    new Lookups(async () => (answers[asked++] ?? []).map((text) => parseAddress(text) as IpAddress));
  const host = parseHost('web.test') as { name: string };
  const reached = await dial(policy, resolver(), host, port);
  expect(reached.remoteAddress).toBe('127.0.0.1');
  reached.destroy();
  await expect(dial(policy, resolver(), host, port)).rejects.toMatchObject({
    reason: expect.stringContaining('private network'),
  });
  // Of several addresses it takes the one that may be reached.
  const mixed = await dial(policy, resolver(), host, port);
  expect(mixed.remoteAddress).toBe('127.0.0.1');
  mixed.destroy();
  expect(asked).toBe(3);
});

describe('no disguise of the loopback passes any door', () => {
  const forms = [
    '127.0.0.1',
    '127.1',
    '0x7f000001',
    '2130706433',
    '017700000001',
    '0',
    '[::1]',
    '[::ffff:127.0.0.1]',
  ];
  const others = [
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[::ffff:0:127.0.0.1]',
    'localhost',
  ];

  test.each([...forms, ...others, 'LOCALHOST.', '169.254.169.254', '0xa9fea9fe', '[fd00:ec2::254]'])(
    '%s',
    async (host) => {
      const place = await echo();
      const port = portOf(place);
      const { say } = await openGateway({
        allow: ['web.test', `**:${port}`, `0.0.0.0/0:${port}`, `[::/0]:${port}`],
        hosts: { 'web.test': place },
      });
      const request = (target: string, named: string) =>
        `GET ${target} HTTP/1.1\r\nHost: ${named}\r\nConnection: close\r\n\r\n`;
      const authority = `${host}:${port}`;
      expect(await say('127.0.0.1', 3128, request(`http://${authority}/`, authority))).not.toContain('came');
      const tunnel = `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`;
      expect(await say('127.0.0.1', 3128, tunnel + request('/', authority))).not.toContain('came');
      expect(await say('127.0.0.1', 1080, socks(host, port, request('/', authority)))).not.toContain('came');
      expect(await say('203.0.113.9', port, request('/', authority))).not.toContain('came');
      expect(await say('127.0.0.1', 3128, request('http://web.test/', 'web.test'))).toContain('came');
    },
  );
});

test('an address of this machine needs a rule that names it, and no range is one', async () => {
  const { networkInterfaces } = await import('node:os');
  const own = Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4')
    .map(({ address }) => address);
  for (const address of own) {
    const [a] = address.split('.');
    const judged = (...allow: string[]) =>
      new NetworkPolicy(networkRulesSchema.parse({ allow })).decide(parseHost(address) as never, 80).allowed;
    expect(judged(`${a}.0.0.0/8:80`, '0.0.0.0/0:80', '**:80')).toBe(false);
    expect(judged(`${address}:80`)).toBe(true);
  }
});

test.each([
  ['h2c by its preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  [
    'h2c by an upgrade',
    'GET / HTTP/1.1\r\nHost: web.test\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n',
  ],
  ['another upgrade', 'GET / HTTP/1.1\r\nHost: web.test\r\nConnection: Upgrade\r\nUpgrade: TLS/1.0\r\n\r\n'],
  ['a CONNECT to a server', 'CONNECT web.test:80 HTTP/1.1\r\nHost: web.test\r\n\r\n'],
  ['a request without a host', 'GET / HTTP/1.0\r\n\r\n'],
  ['HTTP/0.9', 'GET /\r\n'],
])('requests that nobody could judge do not pass: %s', async (_what, bytes) => {
  const seen: string[] = [];
  const place = await openWeb((request, response) => {
    seen.push(request.url ?? '');
    response.end('came');
  });
  const { say, dial: connect } = await openGateway({
    allow: ['web.test:80,8080'],
    hosts: { 'web.test': place },
  });
  const hidden = 'GET /hidden HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n';
  for (const port of [80, 8080]) {
    const socket = await connect('web.test', port);
    socket.end(bytes + hidden);
    await readAll(socket);
  }
  expect(seen).toEqual([]);
  const usual = 'GET /usual HTTP/1.1\r\nHost: web.test\r\nConnection: close\r\n\r\n';
  expect(await say('web.test', 80, usual)).toContain('came');
  expect(seen).toEqual(['/usual']);
});

test('no record comes that would hide the name of a server, nor any but an IPv4 address', async () => {
  const { gateway } = await openGateway({ allow: ['web.test'], hosts: { 'web.test': '127.0.0.1:1' } });
  const answers = async (type: number) => (await gateway.query(question('web.test', type)))?.readUInt16BE(6);
  const [https, svcb, ipv6, text, service] = await Promise.all([65, 64, 28, 16, 33].map(answers));
  expect({ https, svcb, ipv6, text, service }).toEqual({ https: 0, svcb: 0, ipv6: 0, text: 0, service: 0 });
  expect(await answers(1)).toBe(1);
});

test('a hello with an encrypted name goes to the server of the name that it shows, and to no other', async () => {
  const heard: Buffer[] = [];
  const place = await openTcp((socket) => {
    socket.once('data', (bytes) => {
      heard.push(bytes);
      socket.end('came');
    });
  });
  const { say, event } = await openGateway({
    allow: ['shown.test'],
    hosts: { 'shown.test': place, 'hidden.test': place },
  });
  const accessDenied = '\x15\x03\x03\x00\x02\x02\x31';
  expect(await say('hidden.test', 443, encryptedHello('hidden.test'))).toBe(accessDenied);
  expect(await say('shown.test', 443, encryptedHello('hidden.test'))).toBe(accessDenied);
  expect(await say('203.0.113.9', 443, encryptedHello('hidden.test'))).toBe(accessDenied);
  expect(await say('shown.test', 443, encryptedHello())).toBe(accessDenied);
  expect(heard).toEqual([]);
  const hello = encryptedHello('shown.test');
  expect(await say('203.0.113.9', 443, hello)).toBe('came');
  expect(await event('opened')).toMatchObject({ host: 'shown.test' });
  expect(heard).toEqual([hello]);
});

describe('a host of which only some requests pass', () => {
  const upgrading = () =>
    openTcp((socket) =>
      socket.once('data', () => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
        socket.on('data', (bytes) => socket.write(bytes));
      }),
    );
  const upgrade = 'GET /live HTTP/1.1\r\nHost: ws.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

  test('takes no WebSocket where methods are named: what passes in one has none', async () => {
    const hosts = { 'ws.test': await upgrading() };
    const reading = await openGateway({ requests: [{ host: 'ws.test', methods: ['GET'] }], hosts });
    expect(await reading.say('ws.test', 80, upgrade)).toContain('403 Forbidden');
    const open = await openGateway({ requests: [{ host: 'ws.test', paths: ['/live'] }], hosts });
    const socket = await open.dial('ws.test', 80);
    socket.write(upgrade);
    expect(String((await once(socket, 'data'))[0])).toContain('101');
  });

  test('loses its connections when other requests pass from now on; other hosts keep theirs', async () => {
    const place = await upgrading();
    const { gateway, dial: connect } = await openGateway({
      requests: [{ host: 'ws.test', paths: ['/live'] }, { host: 'other.test' }],
      hosts: { 'ws.test': place, 'other.test': place },
    });
    const [first, second] = [await connect('ws.test', 80), await connect('other.test', 80)];
    first.write(upgrade);
    second.write(upgrade.replace('ws.test', 'other.test'));
    await Promise.all([once(first, 'data'), once(second, 'data')]);
    const ended = readAll(first);
    await gateway.change((rules) => ({
      ...rules,
      requests: [{ host: 'ws.test', paths: ['/elsewhere'] }, { host: 'other.test' }],
    }));
    await ended;
    second.write('still there');
    expect(String((await once(second, 'data'))[0])).toBe('still there');
  });
});

function socks(host: string, port: number, then: string): Buffer {
  const name = Buffer.from(host.replace(/^\[|\]$/g, ''), 'latin1');
  const place = Buffer.alloc(2);
  place.writeUInt16BE(port);
  return Buffer.concat([Buffer.from([5, 1, 0, 5, 1, 0, 3, name.length]), name, place, Buffer.from(then)]);
}
