/** The network `open`: every public host, and neither this machine nor its private networks. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRuntime } from '../../src/index.js';

/**
 * Another machine: a network namespace with a server on some port, joined to this one by a cable of its own. It has a
 * public address and a private one; only the two ends of the cable ever see them.
 */
const answering = `
const { createServer } = require('node:http');
const answer = (request, response) => response.end('outside');
createServer(answer).listen(443, '::');
const server = createServer(answer);
server.listen(0, '::', () => console.log(server.address().port));`;
const number = process.pid % 16_000;
const ends = (first: number) => [1, 2].map((end) => `${first}.213.${number >> 6}.${(number & 63) * 4 + end}`);
const [ours = '', theirs = ''] = ends(11);
const [ourPrivate = '', theirPrivate = ''] = ends(10);
const cable = `cable${number}`;
const other = spawn('unshare', ['--net', process.execPath, '-e', answering], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
/** A server of this machine, on all of its addresses. */
const owner = createServer((_request, response) => response.end('of the owner'));
let at: (host: string) => string;

beforeAll(async () => {
  const [port] = (await once(other.stdout, 'data')) as [Buffer];
  at = (host) => `http://${host}:${String(port).trim()}/`;
  const inside = [`--net=/proc/${other.pid}/ns/net`, 'ip'];
  execFileSync('ip', ['link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', `${other.pid}`]);
  for (const address of [ours, ourPrivate])
    execFileSync('ip', ['address', 'add', `${address}/30`, 'dev', cable]);
  execFileSync('ip', ['link', 'set', cable, 'up']);
  for (const address of [theirs, theirPrivate])
    execFileSync('nsenter', [...inside, 'address', 'add', `${address}/30`, 'dev', 'eth0']);
  execFileSync('nsenter', [...inside, 'link', 'set', 'eth0', 'up']);
  owner.listen(0, '0.0.0.0');
  await once(owner, 'listening');
});

afterAll(() => {
  // Its end of the cable goes with it, and so does ours.
  other.kill('SIGKILL');
  owner.close();
});

const cell = { backend: 'sandbox', config: false } as const;
const fetched = (address: string) => `curl -sS -m 20 ${address} 2>&1`;
const ofOwner = (host: string) => `http://${host}:${(owner.address() as AddressInfo).port}/`;

describe.each([
  ['of this process', {}],
  ['of a keeper', { keeper: `open-${process.pid}` }],
])('a cell %s', (_whose, kept) => {
  test('reaches another machine on any port, and neither this one nor a private network', async () => {
    await using runtime = await createRuntime({ ...cell, ...kept, network: 'open' });
    expect((await runtime.run(fetched(at(theirs)))).output).toBe('outside');
    for (const host of ['127.0.0.1', 'localhost', '[::1]', ours, ourPrivate])
      expect((await runtime.run(fetched(ofOwner(host)))).output, host).not.toContain('of the owner');
    expect((await runtime.run(fetched(at(theirPrivate)))).output).toContain('address of a private network');
    expect((await runtime.run(fetched(at(theirs)))).output).toBe('outside');
  });
});

test('what it reaches is recorded, and can be denied while it runs', async () => {
  await using runtime = await createRuntime({ ...cell, network: 'open' });
  expect(runtime.isolation.facts).toContainEqual(
    expect.objectContaining({
      code: 'network',
      enforced: true,
      values: expect.objectContaining({ kind: 'rules' }),
    }),
  );
  await runtime.run(fetched(ofOwner(ours)));
  expect((await runtime.run(fetched(at(theirs)))).output).toBe('outside');
  await runtime.network.deny(theirs);
  expect((await runtime.run(fetched(at(theirs)))).output).toContain('a rule denies it');
  const recorded = [];
  for await (const event of runtime.events.since(0)) {
    if (event.kind === 'network') recorded.push(event.network);
    if (event.kind === 'network' && event.network.outcome === 'changed') break;
  }
  expect(recorded).toContainEqual(expect.objectContaining({ outcome: 'refused', host: ours }));
  expect(recorded).toContainEqual(expect.objectContaining({ outcome: 'opened', host: theirs }));
});

test('a name that is denied is refused at its address as well, and its neighbour there is not', async () => {
  await using runtime = await createRuntime({ ...cell, network: 'open' });
  const port = Number(new URL(at(theirs)).port);
  const asked = async (scheme: string, name: string, to: number) =>
    (await runtime.run(fetched(`--resolve ${name}:${to}:${theirs} ${scheme}://${name}:${to}/`))).output;
  expect(await asked('http', 'evil.test', port)).toBe('outside');
  await runtime.network.deny('evil.test');
  expect(await asked('http', 'evil.test', port)).toContain('a rule denies it');
  expect(await asked('http', 'good.test', port)).toBe('outside');
  for (const name of ['evil.test', 'good.test']) await asked('https', name, 443);
  const recorded = [];
  for await (const event of runtime.events.since(0)) {
    if (event.kind !== 'network' || !('port' in event.network) || event.network.port !== 443) continue;
    recorded.push(event.network);
    if (event.network.outcome === 'opened') break;
  }
  expect(recorded).toMatchObject([
    { outcome: 'refused', host: 'evil.test', rule: 'evil.test' },
    { outcome: 'opened', host: theirs },
  ]);
});

test('servers of the cell have every port', async () => {
  await using runtime = await createRuntime({ ...cell, network: 'open' });
  const { output } = await runtime.run(`node -e '
    const server = require("http").createServer((request, response) => response.end("own"));
    server.listen(8080, async () => {
      console.log(await (await fetch("http://localhost:8080/")).text());
      process.exit();
    });'`);
  expect(output).toBe('own\n');
});

test('the network of this machine has a name of its own', async () => {
  await using runtime = await createRuntime({ ...cell, network: 'host' });
  expect((await runtime.run(fetched(ofOwner('127.0.0.1')))).output).toBe('of the owner');
});
