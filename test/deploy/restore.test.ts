/** A copy of the store, made while the service runs, and a service that goes on from it. */
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ServiceClient } from '../../src/client/index.js';
import { start, workcell } from '../cli/workcell.js';

const folder = mkdtempSync(join(tmpdir(), 'restore-'));
const env = { XDG_RUNTIME_DIR: folder };
const operatorKey = 'an-operator-key-of-the-test';
const keyFile = join(folder, 'key');
const copy = join(folder, 'copy.db');
writeFileSync(keyFile, operatorKey, { mode: 0o600 });
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function configured(store: string): string {
  const path = join(folder, `${store}.toml`);
  const text = `
backend = "sandbox"
[events]
store = "sqlite:${join(folder, 'events.db')}"
[service]
store = "sqlite:${join(folder, store)}"
`;
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

async function serve(config: string) {
  const words = ['serve', '--config', config, '--listen', '127.0.0.1:0', '--token-file', keyFile];
  const server = start(words, { env });
  await server.printed('listening on http://127.0.0.1:');
  const url = /listening on (\S+)/.exec(server.text())?.[1] ?? '';
  const stop = async () => {
    server.child.kill('SIGTERM');
    await server.ended;
  };
  return { stop, clientOf: (apiKey: string) => new ServiceClient({ url, apiKey }) };
}

test('a service goes on from a copy of its store: keys work, cells that went are lost, others are there', async () => {
  const config = configured('service.db');
  const first = await serve(config);
  const operator = first.clientOf(operatorKey);
  const { key } = await operator.createKey({ tenant: 'web' });
  const web = first.clientOf(key);
  await web.create({ name: 'stays' });
  await web.create({ name: 'goes' });

  const made = await workcell(['serve', 'backup', '--config', config, copy], { env });
  expect(made).toMatchObject({ exitCode: 0, stdout: `copied ${join(folder, 'service.db')} to ${copy}\n` });
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  const late = await operator.createKey({ tenant: 'web' });
  await web.remove('goes');
  await first.stop();

  const second = await serve(configured('copy.db'));
  const restored = second.clientOf(key);
  expect((await restored.get('stays')).state).toBe('running');
  expect((await restored.get('goes')).state).toBe('lost');
  await expect(second.clientOf(late.key).list()).rejects.toMatchObject({ code: 'unauthorized' });
  for (const name of ['stays', 'goes']) await restored.remove(name);
  await second.stop();
});

test.each([
  ['backup', ['never.db']],
  ['status', ['--api-key-file', keyFile]],
])('options in front of "serve %s" are refused: it would not read them', async (name, words) => {
  const target = join(folder, 'never.db');
  const given = words.map((word) => (word === 'never.db' ? target : word));
  const said = await workcell(['serve', '--config', configured('service.db'), name, ...given], { env });
  expect(said).toMatchObject({ exitCode: 64, stdout: '' });
  expect(said.stderr).toContain(`--config in front of "${name}"`);
  expect(existsSync(target)).toBe(false);
});

test('a copy never replaces a file, and one that fails leaves nothing', async () => {
  const taken = join(folder, 'taken.db');
  writeFileSync(taken, 'mine');
  const config = configured('service.db');
  const refused = await workcell(['serve', 'backup', '--config', config, taken], { env });
  expect(refused.stderr).toContain('is there already');
  expect(statSync(taken).size).toBe(4);

  const target = join(folder, 'of-nothing.db');
  const missing = await workcell(['serve', 'backup', '--config', configured('missing.db'), target], { env });
  expect(missing.stderr).toContain('missing.db');
  expect(missing.exitCode).not.toBe(0);
  expect(existsSync(join(folder, 'missing.db'))).toBe(false);
  expect(readdirSync(folder).filter((name) => name.includes('of-nothing'))).toEqual([]);
});
