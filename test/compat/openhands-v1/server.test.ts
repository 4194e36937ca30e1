import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import {
  ConversationClient,
  DesktopClient,
  HooksClient,
  ServerClient,
  SettingsClient,
  ToolClient,
  VSCodeClient,
} from '@openhands/typescript-client/clients';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer, type TestServer } from './server.js';

let server: TestServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

describe('health and info', () => {
  test('answer without a key', async () => {
    const client = new ServerClient({ host: server.host });
    expect(await client.getAlive()).toEqual({ status: 'ok' });
    expect(await client.getHealth()).toEqual({ status: 'ok' });
    expect(await client.getReady()).toEqual({ status: 'ready' });
    const info = await client.getServerInfo();
    expect(info).toMatchObject({
      uptime: expect.any(Number),
      idle_time: expect.any(Number),
      title: expect.any(String),
      version: '1.43.1',
      usable_tools: ['terminal', 'file_editor', 'grep', 'glob'],
      runtime_idle_timeout_seconds: null,
      capabilities: [],
    });
    expect(Object.keys((await client.getRoot()) as object)).toEqual(Object.keys(info));
  });

  test('a server whose cell is gone is not ready', async () => {
    await using own = await startServer();
    await own.fetch('/v1/close', { method: 'POST' });
    const response = await fetch(`${own.host}/ready`);
    expect([response.status, await response.json()]).toEqual([
      503,
      { status: 'initializing', message: expect.any(String) },
    ]);
    expect((await fetch(`${own.host}/alive`)).status).toBe(200);
  });
});

describe('access', () => {
  test('needs a key on every other route, in the form that clients expect', async () => {
    for (const path of ['/api/tools/', '/api/bash/bash_events/search', '/api/conversations', '/api/nothing'])
      for (const headers of [
        {},
        { 'x-session-api-key': 'wrong' },
        { authorization: `Bearer ${server.apiKey}` },
      ]) {
        const response = await fetch(`${server.host}${path}`, { headers: headers as Record<string, string> });
        expect([response.status, await response.json()]).toEqual([401, { detail: 'Unauthorized' }]);
      }
  });

  test('takes any of several keys', async () => {
    const keys = ['the first session key', 'the second session key'];
    await using own = await startServer({ sessionApiKeys: keys });
    for (const apiKey of keys)
      expect(await new ToolClient({ host: own.host, apiKey }).listTools()).toContain('terminal');
  });

  test('needs keys that cannot be guessed', async () => {
    await expect(startServer({ sessionApiKeys: ['short'] })).rejects.toMatchObject({
      code: 'invalid-config',
    });
    await expect(startServer({ sessionApiKeys: [] })).rejects.toMatchObject({ code: 'invalid-config' });
  });

  test('is refused to other hosts and to pages from elsewhere', async () => {
    expect(await statusWith({ host: 'evil.example' })).toBe(403);
    expect(await statusWith({ host: 'localhost' })).toBe(200);
    expect(await statusWith({ origin: 'https://evil.example' })).toBe(403);
  });

  test('is open to an origin that was allowed, which a browser hears', async () => {
    const origin = 'http://localhost:3000';
    await using own = await startServer({ origins: [origin] });
    const preflight = await fetch(`${own.host}/api/tools/`, { method: 'OPTIONS', headers: { origin } });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')).toContain('x-session-api-key');
    const response = await own.fetch('/api/tools/', { headers: { origin } });
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
  });

  function statusWith(headers: Record<string, string>): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      request(`${server.host}/alive`, { headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
  }
});

describe('VS Code', () => {
  test('is started for whoever asks where it is', async () => {
    await using own = await startServer({ editor: {} });
    const client = new VSCodeClient(own);
    expect(await client.getStatus()).toEqual({ running: false, enabled: true });
    const url = (await client.getUrl()) as string;
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?tkn=[0-9a-f]{64}&folder=/);
    expect(new URL(url).searchParams.get('folder')).toBe(own.workspace);
    expect(url).not.toContain(own.apiKey);
    expect((await fetch(url)).status).toBe(200);
    expect(await client.getStatus()).toEqual({ running: true, enabled: true });
    const query = new URLSearchParams({ base_url: 'https://editor.example/x/', workspace_dir: '/tmp' });
    const { url: elsewhere } = (await (await own.fetch(`/api/vscode/url?${query}`)).json()) as {
      url: string;
    };
    expect(elsewhere).toMatch(/^https:\/\/editor\.example\/x\/\?tkn=[0-9a-f]{64}&folder=%2Ftmp$/);
    expect((await own.fetch('/api/vscode/url?base_url=nothing')).status).toBe(422);
  });

  test('that is not there is told to be disabled, with the reason', async () => {
    await using own = await startServer({ editor: { program: 'no-such-editor' } });
    const missing = expect.stringContaining('code-server');
    expect(await new VSCodeClient(own).getStatus()).toEqual({
      running: false,
      enabled: false,
      message: missing,
    });
    await expect(new VSCodeClient(own).getUrl()).rejects.toMatchObject({
      status: 503,
      response: { exception: missing },
    });
  });
});

describe('what this server does not have', () => {
  test('VS Code and a desktop are disabled', async () => {
    await expect(new VSCodeClient(server).getUrl()).rejects.toMatchObject({
      status: 503,
      response: { detail: 'Internal Server Error', exception: expect.stringContaining('disabled') },
    });
    expect(await new VSCodeClient(server).getStatus()).toMatchObject({ running: false, enabled: false });
    await expect(new DesktopClient(server).getUrl()).rejects.toMatchObject({ status: 503 });
  });

  test('conversations are somebody else’s', async () => {
    await expect(new ConversationClient(server).getConversations(['x'])).rejects.toMatchObject({
      status: 501,
    });
    for (const path of ['/api/llm/models', '/api/skills', '/api/profiles', '/api/settings/agent-schema'])
      expect((await server.fetch(path)).status).toBe(501);
  });

  test('what the protocol does not know is not found', async () => {
    for (const path of ['/api/nothing', '/api/init', '/api/bash/nothing', '/api'])
      expect([path, (await server.fetch(path)).status]).toEqual([path, 404]);
    expect(await (await server.fetch('/api/nothing')).json()).toEqual({ detail: 'Not Found' });
  });
});

describe('settings', () => {
  test('of no known kind are kept and merged; those of agents are refused', async () => {
    const client = new SettingsClient(server);
    expect(await client.getSettings()).toMatchObject({ misc_settings: {}, llm_api_key_is_set: false });
    await client.updateSettings({ misc_settings_diff: { a: { b: 1, c: [1, 2] } } });
    await client.updateSettings({ misc_settings_diff: { a: { c: [3] } } });
    expect(await client.getSettings()).toMatchObject({ misc_settings: { a: { b: 1, c: [3] } } });
    await expect(client.updateSettings({ agent_settings_diff: { llm: {} } })).rejects.toMatchObject({
      status: 501,
    });
  });

  test('secrets are kept by name, shown only one by one, and do not enter the cell', async () => {
    const client = new SettingsClient(server);
    await client.upsertSecret({ name: 'TOKEN', value: 'hidden value', description: 'of something' });
    expect(await client.listSecrets()).toEqual({
      secrets: [{ name: 'TOKEN', description: 'of something' }],
    });
    expect(await client.getSecret('TOKEN')).toBe('hidden value');
    const ran = await server.fetch('/api/bash/execute_bash_command', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ command: 'env' }),
    });
    expect(await ran.text()).not.toContain('hidden value');
    await client.deleteSecret('TOKEN');
    await expect(client.getSecret('TOKEN')).rejects.toMatchObject({ status: 404 });
  });

  test('hooks are read from the project', async () => {
    const client = new HooksClient(server);
    expect(await client.loadHooks({ project_dir: server.workspace })).toEqual({ hook_config: null });
    mkdirSync(`${server.workspace}/.openhands`);
    const hooks = { PreToolUse: [] };
    writeFileSync(`${server.workspace}/.openhands/hooks.json`, JSON.stringify(hooks));
    expect(await client.loadHooks({ project_dir: server.workspace })).toEqual({ hook_config: hooks });
    for (const unusable of [`{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`, '{"a":', '[]', '7']) {
      writeFileSync(`${server.workspace}/.openhands/hooks.json`, unusable);
      expect(await client.loadHooks({ project_dir: server.workspace })).toEqual({ hook_config: null });
    }
  });
});
