/** The published workspace of the OpenHands SDK for Python works with the server, both its kinds. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { start } from '../../cli/workcell.js';
import { type PythonClient, startPythonClient } from '../openhands-python/client.js';

const key = 'a-key-for-the-tests-only';
const base = realpathSync(mkdtempSync(join(tmpdir(), 'openhands-sdk-')));
const directory = join(base, 'workspace');
const at = (name: string) => join(directory, name);
mkdirSync(directory);

const server = start(
  ['openhands-agent-server', '--port', '0', '--backend', 'cli', '--workspace', directory],
  { env: { OH_SESSION_API_KEYS_0: key } },
);
let client: PythonClient;
beforeAll(async () => {
  await server.printed('listening on');
  const url = /http:\S+/.exec(server.text())?.[0] ?? '';
  const script = new URL('client.py', import.meta.url);
  client = startPythonClient({ script, url, key, directory });
  expect(await client.call('alive')).toBe(true);
}, 120_000);
afterAll(async () => {
  await client?.[Symbol.asyncDispose]();
  server.child.kill('SIGTERM');
  await server.ended;
  rmSync(base, { recursive: true, force: true });
});

test('finds the server that it expects', async () => {
  expect(await client.call('get_server_info')).toMatchObject({ version: '1.43.1', sdk_version: '1.43.1' });
});

describe.each(['', 'async.'])('%sRemoteWorkspace', (kind) => {
  const call = (method: string, ...args: unknown[]) => client.call(`${kind}${method}`, ...args);

  test('runs commands, in a place, with all their output', async () => {
    expect(await call('execute_command', 'echo out; echo err >&2; exit 3')).toEqual({
      command: 'echo out; echo err >&2; exit 3',
      exit_code: 3,
      stdout: 'out\n',
      stderr: 'err\n',
      timeout_occurred: false,
    });
    mkdirSync(at('below'), { recursive: true });
    const there = await call('execute_command', 'pwd', at('below'));
    expect(there).toMatchObject({ exit_code: 0, stdout: `${at('below')}\n` });
    const long = (await call('execute_command', 'seq 1 300000')) as { stdout: string };
    expect(long.stdout).toBe(Array.from({ length: 300_000 }, (_, index) => `${index + 1}\n`).join(''));
  });

  test('is told of a command that takes too long', async () => {
    expect(await call('execute_command', 'sleep 60', null, 1)).toMatchObject({
      exit_code: -1,
      timeout_occurred: true,
    });
  });

  test('carries files in and out', async () => {
    const [given, back] = [join(base, 'given'), join(base, 'back')];
    const bytes = Buffer.from([0, 255, 1, 254, 10, 13]);
    writeFileSync(given, bytes);
    const inside = at(`${kind}made/here`);
    expect(await call('file_upload', given, inside)).toMatchObject({ success: true, error: null });
    expect(readFileSync(inside)).toEqual(bytes);
    expect(await call('file_download', inside, back)).toMatchObject({ success: true, file_size: 6 });
    expect(readFileSync(back)).toEqual(bytes);
    expect(await call('file_download', at('nothing'), back)).toMatchObject({
      success: false,
      error: expect.stringContaining('404'),
    });
  });

  test('sees changes and differences of a repository', async () => {
    const name = `${kind}repository`;
    mkdirSync(at(name));
    writeFileSync(at(`${name}/kept`), 'before\n');
    const git = ['-c', 'user.name=a', '-c', 'user.email=a@example.org'];
    for (const args of [
      ['init', '-q', '-b', 'main'],
      ['add', '-A'],
      [...git, 'commit', '-qm', 'first'],
    ])
      execFileSync('git', args, { cwd: at(name) });
    writeFileSync(at(`${name}/kept`), 'after\n');
    writeFileSync(at(`${name}/new`), 'new\n');
    expect(await call('git_changes', name)).toEqual([
      { status: 'UPDATED', path: 'kept' },
      { status: 'ADDED', path: 'new' },
    ]);
    expect(await call('git_diff', `${name}/kept`)).toEqual({ modified: 'after\n', original: 'before\n' });
  });
});
