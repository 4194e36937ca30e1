import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BashClient } from '@openhands/typescript-client/clients';
import { expect, test } from 'vitest';
import { start, workcell } from '../../cli/workcell.js';

const command = ['openhands-agent-server', '--backend', 'cli', '--port', '0'];

test('a key is made up and printed; the server ends when it is asked to', async () => {
  await using server = await startCommand([]);
  const { host, apiKey, child, ended } = server;
  expect((await new BashClient({ host, apiKey }).executeCommand('echo hi')).stdout).toBe('hi\n');
  child.kill('SIGTERM');
  expect((await ended).exitCode).toBe(0);
  await expect(fetch(`${host}/alive`)).rejects.toThrow();
});

test('keys come from the variables of the original, and no command sees them', async () => {
  const apiKey = 'a key from the environment';
  await using server = await startCommand([], {
    OH_SESSION_API_KEYS_0: 'another of these keys',
    OH_SESSION_API_KEYS_1: apiKey,
  });
  expect(server.apiKey).toBe('');
  const output = await new BashClient({ host: server.host, apiKey }).executeCommand('env');
  expect(output.exit_code).toBe(0);
  expect(output.stdout).not.toContain('OH_SESSION_API_KEYS');
});

test('an address that others can reach needs a key that was given', async () => {
  const refused = await workcell([...command, '--host', '0.0.0.0']);
  expect(refused.exitCode).toBe(78);
  expect(refused.stderr).toContain('0.0.0.0');
  const folder = mkdtempSync(join(tmpdir(), 'keys-'));
  try {
    const file = join(folder, 'keys');
    writeFileSync(file, 'a-key-from-a-file\nand-one-more-of-them\n');
    await using server = await startCommand(['--host', '0.0.0.0', '--session-api-key-file', file]);
    const host = server.host.replace('0.0.0.0', '127.0.0.1');
    const client = new BashClient({ host, apiKey: 'and-one-more-of-them' });
    expect((await client.executeCommand('true')).exit_code).toBe(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('mistakes are told before anything starts', async () => {
  expect((await workcell([...command, '--check-browser'])).exitCode).toBe(69);
  expect((await workcell([...command, '--port', 'x'])).exitCode).toBe(64);
  expect((await workcell([...command, '--session-api-key-file', '/nowhere'])).exitCode).toBe(78);
});

async function startCommand(args: readonly string[], env: Record<string, string> = {}) {
  const { child, ended, printed } = start([...command, ...args], { env });
  let text = '';
  child.stdout.on('data', (more: string) => {
    text += more;
  });
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  await printed('listening on ').catch(async (error) => {
    await stop();
    throw error;
  });
  return {
    child,
    ended,
    host: /listening on (\S+)/.exec(text)?.[1] ?? '',
    apiKey: /session key: (\S+)/.exec(text)?.[1] ?? '',
    [Symbol.asyncDispose]: stop,
  };
}

test('prints its messages in the form that it takes, and says those of a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'messages-'));
  const file = join(folder, 'messages.json');
  writeFileSync(file, '{"bash.timed_out": "after {seconds}"}');
  const printed = await workcell(['openhands-agent-server', '--messages', file, '--print-messages']);
  expect(printed.exitCode).toBe(0);
  expect(JSON.parse(printed.stdout)).toMatchObject({
    'bash.timed_out': 'after {seconds}',
    'bash.no_event': 'Item not found',
  });
  await using server = await startCommand(['--messages', file]);
  const slow = await new BashClient(server).executeCommand('sleep 1000', '.', 1);
  expect(slow.stderr).toBe('after 1');
  rmSync(folder, { recursive: true });
});
