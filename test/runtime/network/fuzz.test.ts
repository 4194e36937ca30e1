/** Whatever a program sends by whichever door, only the server of an allowed host hears of it, and only as that host. */
import { expect, test } from 'vitest';
import type { Random } from '../../fuzz/random.js';
import { seededRandom } from '../../seed.js';
import { clientHello, openGateway, openTcp, question, readAll } from './open-gateway.js';

const rounds = 600;
const atOnce = 20;

/** Separators, ends of text, other spellings: what readers of names have disagreed about before. */
const tricks = [
  '\0',
  '.',
  ':',
  '@',
  '%00',
  '%2e',
  '\r\n',
  '\n',
  '\t',
  ' ',
  '#',
  '/',
  '\\',
  '*',
  '。',
  '..',
  '[',
  ']',
];
const names = [
  'good.test',
  'evil.test',
  'evil.test\0.good.test',
  'good.test.',
  'GOOD.test',
  'good.test@evil.test',
];

test('no bytes reach a host that no rule allows', async () => {
  const random = seededRandom();
  let evil = 0;
  const arrived: string[] = [];
  const hosts = {
    'good.test': await openTcp((socket) => {
      const index = arrived.push('') - 1;
      socket.on('data', (bytes) => {
        arrived[index] += bytes.toString('latin1');
      });
      socket.once('data', () => socket.end('HTTP/1.1 204 None\r\n\r\n')).once('end', () => socket.end());
    }),
    'evil.test': await openTcp((socket) => {
      evil++;
      socket.destroy();
    }),
  };
  const { gateway, dial, events } = await openGateway({
    allow: ['good.test:22,80,443'],
    hosts,
    limits: { connections: 16_384 },
  });
  for (let round = 0; round < rounds; round += atOnce)
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        const door = random.pick(doors);
        const bytes = mutated(random, door.bytes(random));
        const socket = await dial(random.pick(door.hosts), random.pick(door.ports));
        socket.end(bytes);
        await readAll(socket);
      }),
    );
  for (let round = 0; round < rounds; round++)
    await gateway.query(mutated(random, question(random.pick(names).replaceAll('\0', '.'))));
  expect(evil).toBe(0);
  const opened = events.filter(({ outcome }) => outcome === 'opened');
  expect(opened.filter(({ host }) => host !== 'good.test')).toEqual([]);
  const named = arrived.flatMap(hostsIn);
  expect(named.filter((host) => !/^good\.test\.?(:\d+)?$/i.test(host))).toEqual([]);
  expect(named.length).toBeGreaterThan(rounds / 100);
  // Some of them are left as they are, so that the test says something.
  expect(opened.length).toBeGreaterThan(rounds / 50);
});

interface Door {
  readonly hosts: readonly string[];
  readonly ports: readonly number[];
  bytes(random: Random): Buffer;
}

const direct = ['good.test', 'evil.test', '203.0.113.9'];

const doors: readonly Door[] = [
  { hosts: direct, ports: [443, 22], bytes: (random) => hello(random) },
  { hosts: direct, ports: [80, 22], bytes: (random) => Buffer.concat([request(random), request(random)]) },
  {
    hosts: ['127.0.0.1'],
    ports: [3128],
    bytes: (random) => Buffer.concat([proxied(random), request(random)]),
  },
  {
    hosts: ['127.0.0.1'],
    ports: [3128],
    bytes: (random) => Buffer.concat([connecting(random), hello(random)]),
  },
  { hosts: ['127.0.0.1'], ports: [1080], bytes: (random) => Buffer.concat([socks(random), hello(random)]) },
];

/** What some server answers. */
const lines = [
  'GET / HTTP/1.1',
  'GET / HTTP/1.1',
  'GET / HTTP/1.2',
  'GET  / HTTP/1.1',
  'GET\t/ HTTP/1.1',
  'GET / HTTP/1.1 ',
  ' GET / HTTP/1.1',
  `GET /${'a'.repeat(8300)} HTTP/1.1`,
  'get / HTTP/1.1',
  'A_B / HTTP/1.1',
];

/** The hosts that the most lenient of servers reads in what it was sent: Python's, and those that take any version. */
function hostsIn(text: string): string[] {
  const [head = ''] = text.trimStart().split(/\r?\n\r?\n/);
  const [line = '', ...headers] = head.split(/\r?\n/);
  const words = line.trim().split(/[\s\x1c-\x1f\x85]+/);
  const isRequest =
    /^HTTP\//i.test(words.at(words.length === 3 ? 2 : words.length) ?? '') ||
    (/^[a-z_-]+$/i.test(words[0] ?? '') && words[1]?.startsWith('/') === true);
  if (!isRequest) return [];
  return headers.flatMap((header) => /^host:\s*(.*)$/i.exec(header)?.[1]?.trim() ?? []);
}

function hello(random: Random): Buffer {
  return clientHello(
    ...random.pick([['good.test'], ['evil.test'], ['good.test', 'evil.test'], [random.pick(names)]]),
  );
}

function request(random: Random): Buffer {
  return latin1(`${random.pick(lines)}\r\nHost: ${random.pick(names)}\r\n${further(random)}\r\n`);
}

function proxied(random: Random): Buffer {
  const [target, host] = [random.pick(names), random.pick(names)];
  return latin1(`GET http://${target}/ HTTP/1.1\r\nHost: ${host}\r\n${further(random)}\r\n`);
}

function connecting(random: Random): Buffer {
  const port = random.pick([443, 80, 22, 0, 65_536]);
  return latin1(`CONNECT ${random.pick(names)}:${port} HTTP/1.1\r\nHost: ${random.pick(names)}\r\n\r\n`);
}

function further(random: Random): string {
  return random.pick([
    '',
    'Connection: close\r\n',
    `Host: ${random.pick(names)}\r\n`,
    'Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n',
    'Content-Length: 40\r\n',
    'Connection: Upgrade\r\nUpgrade: websocket\r\n',
  ]);
}

function socks(random: Random): Buffer {
  const name = latin1(random.pick(names));
  const length = random.chance(0.8) ? name.length : random.int(256);
  return Buffer.concat([
    Buffer.from([5, 1, 0, 5, 1, 0, random.pick([3, 3, 3, 1, 4]), length]),
    name,
    Buffer.from([0, random.pick([80, 22])]),
  ]);
}

/** A third stays as it is. */
function mutated(random: Random, given: Buffer): Buffer {
  let bytes = Buffer.from(given);
  if (random.chance(1 / 3)) return bytes;
  for (let change = random.between(1, 4); change > 0; change--) {
    const at = random.int(bytes.length);
    const kind = random.int(4);
    if (kind === 0) bytes[at] = random.int(256);
    else if (kind === 1)
      bytes = Buffer.concat([bytes.subarray(0, at), latin1(random.pick(tricks)), bytes.subarray(at)]);
    else if (kind === 2) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + random.size(8))]);
    else bytes = bytes.subarray(0, Math.max(1, at));
  }
  return bytes;
}

function latin1(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}
