/** `workcell serve` as a process that we kill. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ServiceClient } from '../../src/client/index.js';
import { start, workcell } from './workcell.js';

const folder = mkdtempSync(join(tmpdir(), 'serve-'));
const key = 'an-operator-key-of-the-test';
const env = { XDG_RUNTIME_DIR: folder };
const config = join(folder, 'service.toml');
const keyFile = join(folder, 'key');

writeFileSync(keyFile, key, { mode: 0o600 });
writeFileSync(
  config,
  `
backend = "sandbox"
[events]
store = "sqlite:${join(folder, 'events.db')}"
[service]
store = "sqlite:${join(folder, 'service.db')}"
starts_at_once = 2
`,
  { mode: 0o600 },
);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function serve() {
  const words = ['serve', '--config', config, '--listen', '127.0.0.1:0', '--token-file', keyFile];
  const server = start(words, { env });
  await server.printed('listening on http://127.0.0.1:');
  const url = /listening on (\S+)/.exec(server.text())?.[1] ?? '';
  return { ...server, url, client: new ServiceClient({ url, apiKey: key }) };
}

test('a service that is killed while it makes cells loses none and doubles none', async () => {
  const first = await serve();
  const names = Array.from({ length: 12 }, (_, index) => `cell-${index}`);
  const create = (client: ServiceClient, name: string) => client.create({ name }, { idempotencyKey: name });
  const acknowledged = new Map<string, string>();
  const asked = names.map(async (name) => {
    const cell = await create(first.client, name);
    acknowledged.set(name, cell.id);
    if (acknowledged.size === 4) first.child.kill('SIGKILL');
  });
  await Promise.allSettled(asked);
  await first.ended;
  expect(acknowledged.size).toBeGreaterThanOrEqual(4);
  expect(acknowledged.size).toBeLessThan(names.length);

  const second = await serve();
  const { client, url } = second;
  const ids = new Set<string>();
  for (const name of names) {
    const { id, state } = await create(client, name);
    if (acknowledged.has(name)) expect(id).toBe(acknowledged.get(name));
    expect(state).toBe('running');
    ids.add(id);
  }
  expect(ids.size).toBe(names.length);
  const kept = await workcell(['cells', '--backend', 'sandbox', '--no-config', '--json'], { env });
  const found = JSON.parse(kept.stdout) as { id: string }[];
  expect(found.map(({ id }) => id).sort()).toEqual([...ids].sort());

  const place = ['--backend', 'service', '--url', url, '--api-key-file', keyFile];
  const run = await workcell(['run', '--no-config', ...place, 'echo by the command line'], { env });
  expect(run).toMatchObject({ stdout: 'by the command line\n', exitCode: 0 });

  const status = await workcell(['serve', 'status', '--url', url, '--api-key-file', keyFile], { env });
  expect(status).toMatchObject({
    stdout: expect.stringMatching(/^cells +0 starting, 12 running/m),
    exitCode: 0,
  });

  for (const name of names) await client.remove(name);
  const after = await workcell(['cells', '--backend', 'sandbox', '--no-config', '--json'], { env });
  expect(JSON.parse(after.stdout)).toEqual([]);
  second.child.kill('SIGTERM');
  expect(await second.ended).toMatchObject({ exitCode: 0 });
});
