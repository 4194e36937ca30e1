/** The published Python clients of E2B, unmodified, against our service. */
import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type E2bService, startE2bService } from './e2b-service.js';

const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
/** Where `scripts/setup --tests` installs them. */
const python = join(cache, 'workcell/e2b-clients/bin/python');
const script = fileURLToPath(new URL('client.py', import.meta.url));

let service: E2bService;
beforeAll(async () => {
  service = await startE2bService();
});
afterAll(() => service.close());

test('each method answers as E2B does, and failures have its classes', { timeout: 120_000 }, async () => {
  const { apiKey, apiUrl, sandboxUrl } = service.connection;
  const { stdout } = await promisify(execFile)(python, ['-W', 'ignore', script], {
    env: { PATH: process.env.PATH, E2B_API_KEY: apiKey, E2B_API_URL: apiUrl, E2B_SANDBOX_URL: sandboxUrl },
  });
  expect(JSON.parse(stdout)).toEqual({
    run: [0, 'out yes\n', 'err\n'],
    exit: 'CommandExitException',
    timeout: 'TimeoutException',
    user: 'AuthenticationException',
    stdin: 'one\n',
    listed: [],
    killed: [true, 'CommandExitException'],
    terminal: 'CommandExitException',
    files: ['a', ['a.txt', 'b.txt']],
    missing: 'FileNotFoundException',
    directory: [true, false, true],
    renamed: '/workspace/folder/z.txt',
    info: { from: 'py thon' },
    list: [true],
    metrics: 1,
    paused: false,
    connected: 'back\n',
    async: 'async\n',
    'async killed': true,
    code: ['42', ['printed\n']],
    'code error': 'ZeroDivisionError',
    contexts: true,
    gone: [true, false, 'SandboxNotFoundException', 'SandboxNotFoundException'],
    key: 'AuthenticationException',
  });
});
