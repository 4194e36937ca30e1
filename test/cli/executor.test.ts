import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { start, workcell } from './workcell.js';

const token = 'a-token-for-the-command-line';
let folder: string;
let tokenFile: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'executor-'));
  tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, token, { mode: 0o600 });
});
afterAll(() => rmSync(folder, { recursive: true }));

const listen = (address: string, ...more: string[]) => [
  'executor',
  '--listen',
  address,
  '--workspace',
  folder,
  ...more,
];

describe('what is missing is named', () => {
  test.each([
    [
      'a token file',
      () => listen('tcp:127.0.0.1:0', '--token-file', '/nowhere/t'),
      'openssl rand -hex 32 > /nowhere/t',
    ],
    ['a token', () => listen('tcp:127.0.0.1:0'), '--token-file <file>'],
    ['leave to be reached', () => listen('tcp:0.0.0.0:0', '--token-file', tokenFile), '--allow-remote'],
    ['a number', () => listen('tcp:127.0.0.1:0', '--max-rate', '0'), 'whole number above 0'],
  ])('%s', async (_what, args, advice) => {
    const { stderr, exitCode } = await workcell(args());
    expect(stderr).toContain(advice);
    expect(exitCode).not.toBe(0);
  });
});

test('limits are set by flags, and a wrong token is told apart', async () => {
  const server = start(
    listen('tcp:127.0.0.1:0', '--token-file', tokenFile, '--max-body', '1', '--max-rate', '3'),
  );
  await server.printed('listening on');
  const url = /http:\S+/.exec(server.text())?.[0] ?? '';
  const wrong = join(folder, 'wrong');
  writeFileSync(wrong, 'another-token-altogether');
  const remote = await workcell(['run', '--backend', 'remote', '--url', url, '--token-file', wrong, 'true']);
  expect(remote.stderr).toContain('does not take this token');

  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const large = JSON.stringify({ action: 'write', path: 'x', content: 'x'.repeat(1024 * 1024) });
  expect((await fetch(`${url}/v1/actions`, { method: 'POST', headers, body: large })).status).toBe(413);
  const many = await Promise.all(Array.from({ length: 40 }, () => fetch(`${url}/alive`)));
  expect(many.map(({ status }) => status)).toContain(429);
  server.child.kill('SIGTERM');
  expect((await server.ended).exitCode).toBe(0);
});

test('two commands at once have each a session of their own', async () => {
  const server = start(listen('tcp:127.0.0.1:0', '--token-file', tokenFile));
  await server.printed('listening on');
  const url = /http:\S+/.exec(server.text())?.[0] ?? '';
  const place = ['--backend', 'remote', '--url', url, '--token-file', tokenFile];
  const waits = start(['run', ...place, 'mkfifo gate; echo waiting; cat gate']);
  await waits.printed('waiting');
  const busy = await workcell(['run', ...place, 'echo never']);
  expect(busy).toMatchObject({ exitCode: 75, stderr: expect.stringContaining('default') });
  await workcell(['run', ...place, '--session', 'another', 'echo from another > gate']);
  expect(await waits.ended).toMatchObject({ exitCode: 0 });
  expect(waits.text()).toContain('from another');
  server.child.kill('SIGTERM');
  await server.ended;
});
