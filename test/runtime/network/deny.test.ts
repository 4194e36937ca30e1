/** A denial stays, whoever changes the rules at the same time. */
import { once } from 'node:events';
import { expect, test } from 'vitest';
import type { NetworkAnswer, NetworkRecord } from '../../../src/protocol/index.js';
import { RuntimeNetwork } from '../../../src/runtime/runtime-network.js';
import { openGateway, openTcp, readAll } from './open-gateway.js';

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
