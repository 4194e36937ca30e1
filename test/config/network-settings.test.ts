/** The section `network` of the settings, as the rules of a cell. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { mayNarrow } from '../../src/config/narrowing.js';
import { createRuntime } from '../../src/index.js';
import { workcell } from '../cli/workcell.js';

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'network-settings-')));
afterAll(() => rmSync(directory, { recursive: true }));

let count = 0;

function settings(toml: string): string {
  const path = join(directory, `${count++}.toml`);
  writeFileSync(path, `backend = "sandbox"\n[network]\n${toml}\n`, { mode: 0o600 });
  return path;
}

const presets = '[network.presets]\nmine = ["api.corp.test:8443", "*.mirror.test"]\n';
const limits =
  'limits = { connections = 8, connections_per_second = 5, sent_bytes = 1000, received_bytes = 2000 }\n';
const hosts = 'hosts = { "api.corp.test" = "127.0.0.1:1" }\n';

test('presets of your own, requests, hosts and limits are rules of the cell', async () => {
  const requests = 'requests = [{ host = "git.corp.test", methods = ["GET"] }]\n';
  const config = settings(`allow = ["a.test"]\npreset = ["mine"]\n${requests}${limits}${hosts}${presets}`);
  await using runtime = await createRuntime({ config });
  expect(runtime.network.rules()).toMatchObject({
    allow: ['a.test', 'api.corp.test:8443', '*.mirror.test'],
    requests: [{ host: 'git.corp.test', methods: ['GET'] }],
    hosts: { 'api.corp.test': '127.0.0.1:1' },
    limits: { connections: 8, connectionsPerSecond: 5, sentBytes: 1000, receivedBytes: 2000 },
  });
});

test('hosts and limits count with rules in code that say nothing of them', async () => {
  const config = settings(`${limits}${hosts}`);
  await using runtime = await createRuntime({
    config,
    network: { allow: ['b.test'], hosts: { 'b.test': '127.0.0.1:2' } },
  });
  expect(runtime.network.rules()).toMatchObject({
    allow: ['b.test'],
    hosts: { 'b.test': '127.0.0.1:2' },
    limits: { connections: 8 },
  });
  await using none = await createRuntime({ config });
  expect(none.network.rules()).toBeUndefined();
});

test('--allow takes the name of such a preset', async () => {
  const config = settings(`${hosts}${presets}`);
  const command = 'curl -sS http://api.corp.test:8443/; curl -sS http://other.test/';
  const { stdout } = await workcell(['run', '--config', config, '--allow', 'mine', command]);
  const refusals = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { error: string });
  expect(refusals.map(({ error }) => error)).toEqual(['unreachable', 'refused-by-network-rules']);
});

test('unknown names and those of Workcell are told, and a project brings none', async () => {
  await expect(createRuntime({ config: settings('preset = ["yours"]') })).rejects.toMatchObject({
    code: 'invalid-config',
    message: expect.stringContaining('There is no network preset "yours"'),
  });
  await expect(
    createRuntime({ config: settings('preset = ["npm"]\n[network.presets]\nnpm = ["evil.test"]') }),
  ).rejects.toMatchObject({ code: 'invalid-config' });
  for (const key of ['presets', 'requests', 'hosts', 'limits'])
    expect(mayNarrow(`network.${key}`, {}), key).toBe(false);
});
