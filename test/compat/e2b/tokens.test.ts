/** What opens a sandbox: tokens for holders of a key, and as long as the key holds. */
import { AuthenticationError, Sandbox, SandboxError } from 'e2b';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServiceClient } from '../../../src/client/index.js';
import { type E2bService, startE2bService } from './e2b-service.js';

let service: E2bService;
beforeAll(async () => {
  service = await startE2bService();
});
afterAll(() => service.close());

test('code is run for holders of the token only, and a reader is not shown it', async () => {
  const open = await Sandbox.create({
    ...service.connection,
    secure: true,
    network: { allowPublicTraffic: true },
  });
  const asked = await fetch(`${service.url}/execute`, {
    method: 'POST',
    headers: {
      'e2b-sandbox-id': open.sandboxId,
      'e2b-sandbox-port': '49999',
      'content-type': 'application/json',
    },
    body: '{"code":"1"}',
  });
  expect(asked.status).toBe(401);
  const operator = new ServiceClient({ url: service.url, apiKey: service.connection.apiKey });
  const { key } = await operator.createKey({ role: 'reader' });
  const info = async (apiKey: string) =>
    (await fetch(`${service.url}/sandboxes/${open.sandboxId}`, { headers: { 'x-api-key': apiKey } })).json();
  expect(await info(service.connection.apiKey)).toHaveProperty('envdAccessToken');
  const shown = await info(key);
  expect(shown).toMatchObject({ sandboxID: open.sandboxId });
  expect(shown).not.toHaveProperty('envdAccessToken');
  await open.kill();
});

test('what a key got from a sandbox ends with the key, and what others got goes on', async () => {
  const operator = new ServiceClient({ url: service.url, apiKey: service.connection.apiKey });
  const first = await operator.createKey({ role: 'user' });
  const second = await operator.createKey({ role: 'user' });
  const own = await Sandbox.create({ ...service.connection, apiKey: first.key });
  const other = await Sandbox.connect(own.sandboxId, { ...service.connection, apiKey: second.key });
  await own.files.write('signed.txt', 'mine');
  const [signed, still] = await Promise.all([own.downloadUrl('signed.txt'), other.downloadUrl('signed.txt')]);
  expect(await (await fetch(signed)).text()).toBe('mine');
  const port = async ({ trafficAccessToken }: Sandbox) => {
    const headers = {
      'e2b-sandbox-id': own.sandboxId,
      'e2b-sandbox-port': '3001',
      'e2b-traffic-access-token': trafficAccessToken ?? '',
    };
    return (await fetch(service.url, { headers })).status;
  };
  // Nothing listens there.
  expect(await port(own)).toBe(502);
  const running = await own.commands.run('sleep 1000', { background: true, timeoutMs: 0 });
  const isCut = expect(running.wait()).rejects.toBeInstanceOf(SandboxError);
  await operator.removeKey(first.id);
  await isCut;
  await expect(own.commands.list()).rejects.toBeInstanceOf(AuthenticationError);
  await expect(own.files.read('signed.txt')).rejects.toBeInstanceOf(AuthenticationError);
  expect((await fetch(signed)).status).toBe(401);
  expect(await port(own)).toBe(403);
  expect(await other.commands.list()).toMatchObject([{ pid: running.pid }]);
  expect(await (await fetch(still)).text()).toBe('mine');
  expect(await port(other)).toBe(502);
  await other.kill();
});

test('what an expired key got from a sandbox opens it no more', async () => {
  const operator = new ServiceClient({ url: service.url, apiKey: service.connection.apiKey });
  const expiresAt = new Date(Date.now() + 6000).toISOString();
  const { key } = await operator.createKey({ role: 'user', expiresAt });
  const own = await Sandbox.create({ ...service.connection, apiKey: key });
  const refused = () =>
    own.commands.list().then(
      () => undefined,
      (error: Error) => error.constructor,
    );
  await expect.poll(refused, { timeout: 30_000 }).toBe(AuthenticationError);
  expect(await Sandbox.kill(own.sandboxId, service.connection)).toBe(true);
});
