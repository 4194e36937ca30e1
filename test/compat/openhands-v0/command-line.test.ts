import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { start, workcell } from '../../cli/workcell.js';

let base: string;
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'openhands-cli-'));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

const common = (directory: string) =>
  [
    '--working-dir',
    join(base, directory),
    '--username',
    'root',
    '--user-id',
    '0',
    '--no-enable-browser',
  ] as const;

test('takes the arguments of the original, makes the directory, keeps the key from commands, and ends in order', async () => {
  const server = start(['openhands-server', '0', ...common('made/here'), '--plugins', 'jupyter', 'vscode'], {
    env: { SESSION_API_KEY: 'given key', NO_CHANGE_TIMEOUT_SECONDS: '1' },
  });
  const url = await addressOf(server);
  const run = async (command: string) => {
    const response = await fetch(`${url}/execute_action`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-session-api-key': 'given key' },
      body: JSON.stringify({ action: { action: 'run', args: { command } } }),
    });
    return (await response.json()) as { content: string; extras: { metadata: { suffix: string } } };
  };
  expect((await fetch(`${url}/alive`)).status).toBe(200);
  expect((await fetch(`${url}/list_files`, { method: 'POST' })).status).toBe(403);
  expect((await run('pwd; echo "[$SESSION_API_KEY]"')).content).toMatch(/made\/here\n\[\]$/);
  expect((await run('sleep 60')).extras.metadata.suffix).toMatch(/No new output for 1 seconds/);
  server.child.kill('SIGTERM');
  const { exitCode, stdout, stderr } = await server.ended;
  expect(exitCode).toBe(0);
  expect(stdout + stderr).not.toContain('given key');
  expect(stderr).toMatch(/vscode/);
});

test('without a key one is made up and printed', async () => {
  const server = start(['openhands-server', '0', ...common('keyless')]);
  const url = await addressOf(server);
  expect((await fetch(`${url}/vscode/connection_token`)).status).toBe(403);
  server.child.kill('SIGTERM');
  expect((await server.ended).stdout).toMatch(/^session key: [0-9a-f]{48}\n/);
});

test('an evaluation of BrowserGym starts with the ordinary browser, and its questions are answered', async () => {
  const server = start(
    ['openhands-server', '0', ...common('evaluation'), '--browsergym-eval-env', 'miniwob'],
    {
      env: { SESSION_API_KEY: 'a-key' },
    },
  );
  const url = await addressOf(server);
  for (const browser_actions of ['GET_EVAL_GOAL', 'GET_EVAL_REWARDS']) {
    const answer = await fetch(`${url}/execute_action`, {
      method: 'POST',
      headers: { 'x-session-api-key': 'a-key', 'content-type': 'application/json' },
      body: JSON.stringify({ action: { action: 'browse_interactive', args: { browser_actions } } }),
    });
    expect(await answer.json()).toMatchObject({
      observation: 'error',
      content: expect.stringContaining('no BrowserGym task'),
    });
  }
  server.child.kill('SIGTERM');
  expect((await server.ended).stderr).toContain('miniwob');
});

test('mistakes are told before anything starts', async () => {
  const outcomes = await Promise.all([
    workcell(['openhands-server', '0', ...common('x'), '--plugins', 'emacs']),
    workcell(['openhands-server', '99999', ...common('x')]),
    workcell(['openhands-server', '0']),
  ]);
  expect(outcomes.map(({ exitCode }) => exitCode)).toEqual([64, 64, 64]);
  for (const [index, words] of [/emacs/, /port/i, /working-dir/].entries())
    expect(outcomes[index]?.stderr).toMatch(words);
}, 60_000);

async function addressOf(server: ReturnType<typeof start>): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    server.child.stdout.on('data', (chunk: string) => {
      text += chunk;
      const [address] = /http:\/\/\S+(?=\n)/.exec(text) ?? [];
      if (address !== undefined) resolve(address);
    });
    void server.ended.then(({ stderr }) => reject(new Error(stderr)));
  });
}

test('prints its messages in the form that it takes, with those of a file in place', async () => {
  const file = join(base, 'messages.json');
  writeFileSync(file, '{"bash.completed": "code {exit_code}"}');
  const { stdout, exitCode } = await workcell(['openhands-server', '--messages', file, '--print-messages']);
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    'bash.completed': 'code {exit_code}',
    'edit.created': 'File created at: {path}',
  });
});
