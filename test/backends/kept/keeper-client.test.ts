import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openNetwork } from '../../../src/backends/sandbox/keeper/keeper-client.js';

/** Connections that keep this process alive. */
const held = () => process.getActiveResourcesInfo().filter((name) => name === 'PipeWrap').length;

test('a process lives while it waits for the rules of a kept cell, and they do not hold it', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'keeper-'));
  const control = join(directory, 'c.s');
  const server = createServer();
  const connected = once(server, 'connection') as Promise<[Socket]>;
  server.listen(control);
  await once(server, 'listening');
  const before = held();
  const home = { path: directory, socket: '', control, workspace: '' };
  const opening = openNetwork(home, 'kept', 'token');
  const [keeper] = await connected;
  onTestFinished(() => {
    keeper.destroy();
    server.close();
    rmSync(directory, { recursive: true });
  });
  keeper.unref();
  const say = (message: object) => keeper.write(`${JSON.stringify(message)}\n`);
  const turns = async () => {
    for (let count = 0; count < 50; count++) await nextTurn();
  };
  say({ ready: true });
  // Enough for the client to take the first line and to wait for the second.
  await turns();
  expect(held() - before).toBe(1);
  const stats = { connections: 0, refused: 0, sentBytes: 0, receivedBytes: 0 };
  say({ rules: { allow: ['web.test:80'] }, stats });
  const network = await opening;
  expect(network.rules().allow).toEqual(['web.test:80']);
  expect(held() - before).toBe(0);
  network.close();
});
