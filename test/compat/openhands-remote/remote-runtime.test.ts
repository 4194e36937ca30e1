/** RemoteRuntime of the published OpenHands 0.62 starts, uses, pauses, resumes and stops runtimes of a service. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServiceClient } from '../../../src/client/index.js';
import {
  remoteRuntimeApi,
  remoteRuntimePath,
  remoteRuntimeTemplates,
} from '../../../src/compat/openhands-remote/remote-runtime-api.js';
import { type Service, startService } from '../../../src/service/serve-service.js';
import { type PythonClient, startPythonClient } from '../openhands-python/client.js';

const directory = mkdtempSync(join(tmpdir(), 'workcell-remote-runtime-'));
const config = join(directory, 'service.toml');
const operatorKey = 'an-operator-key-of-the-test';

let service: Service;
let url: string;
let operator: ServiceClient;
let key: string;
let client: PythonClient;

beforeAll(async () => {
  const store = `sqlite:${join(directory, 'service.db')}`;
  writeFileSync(
    config,
    `backend = "sandbox"\n[events]\nstore = "sqlite:${join(directory, 'events.db')}"\n[service]\nstore = "${store}"\npreview_listen = "127.0.0.1:0"\n`,
    { mode: 0o600 },
  );
  service = await startService({
    listen: { host: '127.0.0.1', port: 0 },
    operatorKey,
    config,
    also: [remoteRuntimeApi],
    templates: remoteRuntimeTemplates,
  });
  url = `http://127.0.0.1:${(service.address as { port: number }).port}`;
  operator = new ServiceClient({ url, apiKey: operatorKey });
  ({ key } = await operator.createKey({ tenant: 'web' }));
  const script = new URL('client.py', import.meta.url);
  client = startPythonClient({ script, url: `${url}${remoteRuntimePath}`, key, directory: '/workspace' });
}, 120_000);

afterAll(async () => {
  await client?.[Symbol.asyncDispose]();
  await service?.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Name the image, so that the client builds none. */
const named = { runtime_container_image: 'any' };
const kept = { ...named, keep_runtime_alive: true, pause_closed_runtimes: true };

async function run(name: string, command: string): Promise<{ content: string }> {
  return (await client.call('act', name, { action: 'run', args: { command } })) as { content: string };
}

async function ask(
  path: string,
  { as = key, method = 'GET', body }: { as?: string; method?: string; body?: object } = {},
) {
  const response = await fetch(`${url}${remoteRuntimePath}${path}`, {
    method,
    headers: { 'x-api-key': as, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test('a runtime is started, paused, resumed with what was in it, and stopped', async () => {
  const id = await client.call('connect', 'first', 'Session-1', { ...kept });
  expect((await run('first', 'pwd; echo $GREETING; echo here > file')).content).toBe('/workspace\nhi');
  expect(await client.call('act', 'first', { action: 'read', args: { path: 'file' } })).toMatchObject({
    class: 'FileReadObservation',
    content: 'here\n',
  });
  await client.call('close', 'first');
  expect((await ask('/sessions/Session-1')).body).toMatchObject({ runtime_id: id, status: 'paused' });
  expect(await client.call('connect', 'second', 'Session-1', { ...kept, keep_runtime_alive: false })).toBe(
    id,
  );
  expect((await run('second', 'cat file')).content).toBe('here');
  expect((await ask('/list')).body).toMatchObject({
    runtimes: [{ runtime_id: id, session_id: 'Session-1', status: 'running', pod_status: 'ready' }],
  });
  await client.call('close', 'second');
  expect((await ask('/sessions/Session-1')).status).toBe(404);
  expect((await ask(`/runtimes/${id}/alive`)).status).toBe(404);
}, 120_000);

test('every image is there and none is built; a second start takes the place of the first', async () => {
  const first = await client.call('connect', 'first', 'again', { ...named });
  expect((await ask('/registry_prefix')).body).toEqual({ registry_prefix: 'workcell' });
  expect(await client.call('image_exists', 'first', 'workcell/runtime:tag')).toBe(true);
  await expect(client.call('build', 'first', directory, 'workcell/runtime:tag')).rejects.toThrow(
    /builds no images/,
  );
  const start = {
    session_id: 'again',
    command: ['python'],
    image: 'any',
    environment: { A: 'b' },
    resource_factor: 2,
  };
  const { status, body } = await ask('/start', { method: 'POST', body: start });
  expect(status).toBe(200);
  expect(body.runtime_id).not.toBe(first);
  expect((await ask(`/runtime/${first}`)).status).toBe(404);
  await expect(run('first', 'true')).rejects.toThrow(/not responding/);
  const batch = await ask('/sessions/batch?ids=again&ids=none');
  expect(batch.body).toMatchObject([{ runtime_id: body.runtime_id, session_id: 'again' }]);
  await ask('/stop', { method: 'POST', body: { runtime_id: body.runtime_id } });
}, 120_000);

test('an upload for an image is refused before it is taken, and taken only up to a size', async () => {
  const reader = (await operator.createKey({ tenant: 'web', role: 'reader' })).key;
  /** Sends pieces of a megabyte until there is an answer; counts them. */
  const upload = (as: string, megabytes: number) =>
    new Promise<{ status: number | undefined; sent: number }>((resolve, reject) => {
      let sent = 0;
      const request = httpRequest(`${url}${remoteRuntimePath}/build`, {
        method: 'POST',
        headers: { 'x-api-key': as, 'content-type': 'multipart/form-data; boundary=x' },
      });
      let answered = false;
      request.on('response', ({ statusCode }) => {
        answered = true;
        resolve({ status: statusCode, sent });
        request.destroy();
      });
      request.on('error', (error) => {
        if (!answered) reject(error);
      });
      const piece = Buffer.alloc(1024 * 1024);
      const more = () => {
        if (answered) return;
        if (sent === megabytes) return void request.end();
        sent++;
        request.write(piece, more);
      };
      more();
    });
  expect(await upload(reader, 1000)).toMatchObject({
    status: 403,
    sent: expect.toSatisfy((sent: number) => sent < 50),
  });
  expect(await upload(key, 10)).toMatchObject({ status: 501 });
  expect(await upload(key, 1000)).toMatchObject({
    status: 413,
    sent: expect.toSatisfy((sent: number) => sent < 100),
  });
});

test('attaching to a session that has no runtime fails as clients expect it', async () => {
  await expect(client.call('connect', 'none', 'nowhere', { ...named, attach: true })).rejects.toMatchObject({
    name: 'AgentRuntimeNotFoundError',
  });
  const none = await ask('/stop', { method: 'POST', body: { runtime_id: null } });
  expect(none.status).toBe(400);
  expect(none.body).toHaveProperty('detail');
});

test('a runtime is for those who have its key, and for its tenant', async () => {
  const start = { session_id: 'mine', command: 'openhands-agent-server --port 60000', image: 'any' };
  const { body } = await ask('/start', { method: 'POST', body: start });
  const { runtime_id: id, session_api_key: own } = body;
  expect(Object.values(body.work_hosts as object)).toEqual([12_000, 12_001]);
  const other = (await operator.createKey({ tenant: 'other' })).key;
  const reader = (await operator.createKey({ tenant: 'web', role: 'reader' })).key;
  for (const path of ['/sessions/mine', `/runtime/${id}`])
    expect([path, (await ask(path, { as: other })).status]).toEqual([path, 404]);
  for (const path of ['/sessions/mine', `/runtime/${id}`, '/list'])
    expect([path, (await ask(path, { as: reader })).status]).toEqual([path, 403]);
  for (const path of ['/pause', '/resume', '/stop'])
    expect((await ask(path, { as: other, method: 'POST', body: { runtime_id: id } })).status).toBe(404);
  expect((await ask('/list', { as: other })).body).toEqual({ runtimes: [] });
  expect((await ask('/list', { as: 'nobody' })).status).toBe(401);
  const inside = (headers: Record<string, string>) =>
    fetch(`${body.url}/api/bash/execute_bash_command`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ command: 'echo in v1' }),
    });
  expect((await inside({ 'x-api-key': key })).status).toBe(401);
  expect((await inside({ 'x-session-api-key': other })).status).toBe(401);
  const answer = await inside({ 'x-session-api-key': String(own) });
  expect(await answer.json()).toMatchObject({ stdout: 'in v1\n', exit_code: 0 });
  await operator.remove(String(id));
});
