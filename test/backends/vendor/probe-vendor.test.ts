/** What `doctor` says of places elsewhere: yes only where a cell could start, so with whatever reaches them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { loadBackend } from '../../../src/backends/index.js';
import { workcell } from '../../cli/workcell.js';

const keys = ['E2B_API_KEY', 'DAYTONA_API_KEY', 'RUNLOOP_API_KEY', 'MODAL_TOKEN_ID', 'MODAL_TOKEN_SECRET'];
const without = Object.fromEntries(keys.map((name) => [name, '']));
const place = mkdtempSync(join(tmpdir(), 'probe-'));
const keyFile = join(place, 'key');
writeFileSync(keyFile, 'a-key-of-the-tests\n');
afterEach(() => vi.unstubAllEnvs());

const probe = async (name: string, where: object = {}) =>
  (await loadBackend(name)).probe(where as Record<string, unknown>);

test.each([
  ['e2b', 'E2B wants a key: give apiKey or apiKeyFile, or set E2B_API_KEY.', { apiKeyFile: keyFile }],
  ['daytona', 'Daytona wants a key', { apiKeyFile: keyFile }],
  ['runloop', 'Runloop wants a key', { apiKey: 'a-key' }],
  ['modal', 'Modal wants a key', { tokenId: 'ak-1', tokenSecretFile: keyFile }],
  [
    'service',
    'No service is named: give url, and apiKeyFile.',
    { url: 'http://127.0.0.1:1', apiKeyFile: keyFile },
  ],
  ['remote', 'No server is named: give url, and tokenFile.', { url: 'http://127.0.0.1:1' }],
])('%s can start cells with what reaches it, and not without', async (name, summary, where) => {
  for (const key of keys) vi.stubEnv(key, '');
  vi.stubEnv('HOME', place);
  expect(await probe(name)).toMatchObject({ available: false, summary: expect.stringContaining(summary) });
  const found = await probe(name, where);
  expect(found).toMatchObject({ available: true, advice: [] });
  expect(JSON.stringify(found)).not.toContain('a-key');
});

test('a key file that is not there is what is missing', async () => {
  const summary = expect.stringContaining('/nowhere/key');
  expect(await probe('e2b', { apiKeyFile: '/nowhere/key' })).toMatchObject({ available: false, summary });
  const where = { url: 'http://127.0.0.1:1', apiKeyFile: '/nowhere/key' };
  expect(await probe('service', where)).toMatchObject({ available: false, summary });
});

test('doctor says no without a key, and yes with the one of the configuration', async () => {
  const config = join(place, 'workcell.toml');
  writeFileSync(config, `[backends.e2b]\napi_key_file = ${JSON.stringify(keyFile)}\n`);
  const here = async (env: Record<string, string>) => {
    const { stdout } = await workcell(['doctor', '--json'], { env: { ...without, HOME: place, ...env } });
    const { backends } = JSON.parse(stdout);
    return ['daytona', 'e2b', 'modal', 'runloop'].map((name) => backends[name].available);
  };
  expect(await here({})).toEqual([false, false, false, false]);
  expect(await here({ RUNLOOP_API_KEY: 'a-key', WORKCELL_CONFIG: config })).toEqual([
    false,
    true,
    false,
    true,
  ]);
  rmSync(place, { recursive: true });
});
