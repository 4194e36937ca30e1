/** Every server command takes the same options and works on a sandbox, several protocols at one address. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRuntime } from '../../src/index.js';
import { start } from './workcell.js';

const kit = fileURLToPath(new URL('../../src/testing/contract/tools/kit.ts', import.meta.url));
const token = 'a-token-for-this-test-only';
const secret = 'tok-4f9a8b7c6d';
let folder: string;
let common: string[];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'servers-'));
  writeFileSync(join(folder, 'token'), token, { mode: 0o600 });
  common = ['--listen', '127.0.0.1:0', '--token-file', join(folder, 'token'), '--backend', 'sandbox'];
  common.push('--guard', 'rules', '--secret', 'API_TOKEN');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const commands: Record<string, () => string[]> = {
  executor: () => ['executor', '--workspace', folder],
  mcp: () => ['mcp'],
  'openhands-server': () => ['openhands-server', '--working-dir', join(folder, 'w'), '--no-enable-browser'],
  'openhands-agent-server': () => ['openhands-agent-server'],
  'camel-server': () => ['camel-server'],
};

/** What each serves itself; it serves all others beside that. */
const protocols: Record<string, string> = {
  executor: 'native',
  mcp: 'mcp',
  'openhands-server': 'openhands-v0',
  'openhands-agent-server': 'openhands-v1',
  'camel-server': 'camel',
};

test.each(Object.keys(commands))(
  '%s',
  async (name) => {
    const own = protocols[name];
    const also = Object.values(protocols).filter((protocol) => protocol !== own);
    const words = [...(commands[name]?.() ?? []), ...common, '--entry', kit, '--also', ...also];
    const server = start(words, { env: { API_TOKEN: secret } });
    try {
      await server.printed('listening on http://127.0.0.1:');
      const url = new URL(/listening on (\S+)/.exec(server.text())?.[1] ?? '').origin;
      const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
        const accept = 'application/json, text/event-stream';
        const given = { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept };
        const init = { method: 'POST', headers: { ...given, ...headers }, body: JSON.stringify(body) };
        return fetch(`${url}${path}`, init);
      };
      const prefix = (protocol: string) => (protocol === own ? '' : `/${protocol}`);
      const v0 = prefix('openhands-v0');
      const run = async (command: string) => {
        const answer = await post(`${v0}/execute_action`, { action: { action: 'run', args: { command } } });
        return ((await answer.json()) as { content: string }).content;
      };
      expect(await run('echo "$API_TOKEN" $PWD')).toMatch(/^\[hidden:API_TOKEN\] \/workspace/);
      expect(await run('cat ~/.ssh/id_rsa')).toContain('was refused (risk high');
      const initialize = {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 't', version: '1' } },
      };
      expect((await post('/mcp', initialize)).status).toBe(200);
      const hidden = /^\[hidden:API_TOKEN\]\n/;
      const command = 'echo "$API_TOKEN"';
      const remote = { backend: 'remote', url: `${url}${prefix('native')}`, token, config: false } as const;
      await using native = await createRuntime(remote);
      expect((await native.run(command)).output).toMatch(hidden);
      const terminal = await native.terminals.open({ argv: ['true'] });
      expect(await terminal.exited).toMatchObject({ exitCode: 0 });
      const v1 = `${prefix('openhands-v1')}/api/bash/execute_bash_command`;
      const bash = await post(v1, { command }, { 'x-session-api-key': token });
      expect(((await bash.json()) as { stdout: string }).stdout).toMatch(hidden);
      const basic = { authorization: `Basic ${Buffer.from(`any:${token}`).toString('base64')}` };
      const added = await post(`${prefix('camel')}/add`, { args: [1, 2], kwargs: {} }, basic);
      expect(await added.json()).toEqual({ output: '3' });
      const camel = `${prefix('camel')}/add`;
      for (const path of ['/mcp', `${v0}/list_files`, `${prefix('native')}/v1/actions`, v1, camel])
        expect([401, 403]).toContain((await post(path, {}, { authorization: 'Bearer wrong' })).status);
    } finally {
      server.child.kill('SIGTERM');
    }
    expect(await server.ended).toMatchObject({ exitCode: 0, stdout: expect.not.stringContaining(token) });
  },
  120_000,
);
