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
const programOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

let service: E2bService;
beforeAll(async () => {
  service = await startE2bService();
});
afterAll(() => service.close());

async function told(name: string): Promise<unknown> {
  const { apiKey, apiUrl, sandboxUrl } = service.connection;
  const { stdout } = await promisify(execFile)(python, ['-W', 'ignore', programOf(name)], {
    env: { PATH: process.env.PATH, E2B_API_KEY: apiKey, E2B_API_URL: apiUrl, E2B_SANDBOX_URL: sandboxUrl },
  });
  return JSON.parse(stdout);
}

test('no public method is left out, of either client', { timeout: 240_000 }, async () => {
  const answers = {
    create: true,
    kill: [true, false],
    host: true,
    running: true,
    info: true,
    metrics: 1,
    list: [true],
    'paused again': null,
    connect: true,
    network: 'SandboxException',
    snapshots: [[true], 'before', true, false],
    fork: ['after', 'after'],
    mcp: [true, 'AuthenticationException'],
    pid: [true],
    'no such process': 'NotFoundException',
    ended: [0, true],
    killed: [true, 'CommandExitException', false],
    terminal: ['CommandExitException', false],
    files: ['a', ['a.txt', 'b.txt'], true, 'z.txt', 1, 'a', true],
    removed: false,
    config: 'yes',
    restored: 'a',
    status: 'other',
    branches: ['main'],
    remote: 'https://example.com/x.git',
    volumes: ['VolumeException', 'VolumeNotFoundException', false],
    secrets: [
      'SecretException',
      'SecretNotFoundException',
      'SecretNotFoundException',
      'SecretException',
      false,
      false,
    ],
    templates: ['BuildException', 'BuildException', true, 'TemplateException'],
  };
  const code = { text: '42', context: true, 'left out': [] };
  expect(await told('surface.py')).toEqual({
    // Only this one asks for the events of a watch.
    sync: { answers: { ...answers, events: true }, 'left out': [], methods: true },
    async: { answers, 'left out': [], methods: true },
    code,
    'async code': code,
  });
});

test('each method answers as E2B does, and failures have its classes', { timeout: 120_000 }, async () => {
  expect(await told('client.py')).toEqual({
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
