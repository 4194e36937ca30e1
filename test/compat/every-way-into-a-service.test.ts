/** What clients ask of cells of a service is judged, recorded and masked there, whatever protocol they speak. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Sandbox } from 'e2b';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServiceClient } from '../../src/client/index.js';
import { e2bMount } from '../../src/compat/e2b/e2b-mount.js';
import {
  remoteRuntimeApi,
  remoteRuntimePath,
  remoteRuntimeTemplates,
} from '../../src/compat/openhands-remote/remote-runtime-api.js';
import type { WorkcellEvent } from '../../src/index.js';
import { type Service, startService } from '../../src/service/serve-service.js';
import { storyOf } from './story.js';

const secret = 'tok-4f9a8b7c6d';
const operatorKey = 'an-operator-key-of-the-test';
const directory = mkdtempSync(join(tmpdir(), 'workcell-ways-into-a-service-'));
const config = join(directory, 'service.toml');

let service: Service;
let url: string;

beforeAll(async () => {
  const settings = `
backend = "sandbox"
[events]
store = "sqlite:${join(directory, 'events.db')}"
[security]
mode = "by-risk"
[secrets.API_TOKEN]
value = "${secret}"
[service]
store = "sqlite:${join(directory, 'service.db')}"
preview_listen = "127.0.0.1:0"
`;
  writeFileSync(config, settings, { mode: 0o600 });
  service = await startService({
    listen: { host: '127.0.0.1', port: 0 },
    operatorKey,
    config,
    also: [e2bMount, remoteRuntimeApi],
    templates: remoteRuntimeTemplates,
  });
  url = `http://127.0.0.1:${(service.address as { port: number }).port}`;
});
afterAll(async () => {
  await service.close();
  rmSync(directory, { recursive: true, force: true });
});

interface Way {
  /** The cell, as the service names it. */
  readonly id: string;
  /** What the caller sees of a command: its output, or why it did not run. */
  run(command: string): Promise<string>;
  /** The status of requests with this body, one for each kind of endpoint. */
  post(body: string): Promise<number[]>;
  /** Why it was not taken, or anything else. */
  upload(path: string, content: string): Promise<string>;
  download(path: string): Promise<string>;
  close(): Promise<void>;
}

const ways: Record<string, () => Promise<Way>> = {
  'the native API': async () => {
    const operator = new ServiceClient({ url, apiKey: operatorKey });
    const { id } = await operator.create({});
    return {
      id,
      run: (command) => post(`${operator.address(id)}/v1/actions`, { action: 'run', command }),
      post: (body) => statuses(body, [`${url}/v1/cells`, `${operator.address(id)}/v1/actions`]),
      upload: (path, content) =>
        text(`${operator.address(id)}/v1/files?path=${path}`, { method: 'PUT', body: content }),
      download: (path) => text(`${operator.address(id)}/v1/files?path=${path}`),
      close: () => operator.remove(id),
    };
  },

  E2B: async () => {
    const sandbox = await Sandbox.create({ apiKey: operatorKey, apiUrl: url, sandboxUrl: url });
    return {
      id: sandbox.sandboxId,
      run: (command) =>
        sandbox.commands.run(command).then(
          ({ stdout }) => stdout,
          (error: Error) => error.message,
        ),
      post: (body) =>
        statuses(body, [`${url}/sandboxes`, `${url}/filesystem.Filesystem/MakeDir`], {
          'e2b-sandbox-id': sandbox.sandboxId,
          'x-access-token': String((sandbox as unknown as { envdAccessToken?: string }).envdAccessToken),
        }),
      upload: (path, content) => sandbox.files.write(path, content).then(() => 'done', String),
      download: (path) => sandbox.files.read(path),
      close: async () => void (await sandbox.kill()),
    };
  },

  'the remote-runtime API of OpenHands': async () => {
    const api = `${url}${remoteRuntimePath}`;
    const started = JSON.parse(await post(`${api}/start`, { image: 'any', session_id: 'judged' })) as {
      runtime_id: string;
      url: string;
      session_api_key: string;
    };
    const headers = { 'x-session-api-key': started.session_api_key };
    return {
      id: started.runtime_id,
      run: (command) =>
        post(`${started.url}/execute_action`, { action: { action: 'run', args: { command } } }, headers),
      post: async (body) => [
        ...(await statuses(body, [`${api}/start`])),
        ...(await statuses(body, [`${started.url}/execute_action`], headers)),
      ],
      upload: (path, content) => {
        const form = new FormData();
        form.append('file', new Blob([content]), basename(path));
        const address = `${started.url}/upload_file?destination=${dirname(path)}`;
        return text(address, { method: 'POST', body: form, headers });
      },
      // An archive, in which text is stored as it is.
      download: (path) => text(`${started.url}/download_files?path=${path}`, { headers }),
      close: async () => void (await post(`${api}/stop`, { runtime_id: started.runtime_id })),
    };
  },
};

describe.each(Object.keys(ways))('%s', (name) => {
  let way: Way;

  beforeAll(async () => {
    way = await (ways[name] as () => Promise<Way>)();
    await way.run(`printf %s%s ${secret.slice(0, 6)} ${secret.slice(6)} > notes`);
  });
  afterAll(() => way.close());

  test('an action is recorded, judged, carried out and masked', async () => {
    const shown = await way.run('cat notes');
    expect(shown).toContain('[hidden:API_TOKEN]');
    expect(shown).not.toContain(secret);
    const events = await record(way.id);
    expect(storyOf(events, 'cat notes')).toEqual(['action', 'decision allow', 'observation']);
    expect(JSON.stringify(events)).not.toContain(secret);
  });

  test('one that the policy refuses does not run, and the record says so', async () => {
    expect(await way.run('touch made; cat ~/.ssh/id_rsa')).toContain('was refused (risk high');
    expect(storyOf(await record(way.id), '.ssh/id_rsa')).toEqual(['action', 'decision deny', 'error']);
    expect(await way.run('test -e made || echo nothing')).toContain('nothing');
  });

  test('a body that names a key twice is refused before anything is made of it', async () => {
    const before = (await record(way.id)).length;
    const body =
      '{"action":"run","command":"touch twice","command":"true","path":"/tmp/one","path":"/tmp/two"}';
    for (const status of await way.post(body)) expect([400, 422]).toContain(status);
    expect((await record(way.id)).slice(before)).toEqual([]);
  });

  test('files come and go by the same rules', async () => {
    expect(await way.upload('/etc/cron.d/job', 'x')).toContain('was refused (risk');
    const [, workspace = ''] = /at:(\/[^:"\\]+):/.exec(await way.run('echo at:"$PWD":')) ?? [];
    await way.upload(`${workspace}/sent`, 'what was sent');
    expect(await way.run('cat sent')).toContain('what was sent');
    expect(await way.download(`${workspace}/sent`)).toContain('what was sent');
    const notes = await way.download(`${workspace}/notes`);
    expect(notes).toContain('*'.repeat(secret.length));
    expect(notes).not.toContain(secret);
    const events = await record(way.id);
    // A client of V0 names the directory, so make it first.
    const stories = ['/etc/cron.d', '/sent', '/notes'].map((path) =>
      storyOf(events, path, /load|make_dir|read|write/),
    );
    expect(stories).toMatchObject([
      ['action', 'decision deny', 'error'],
      ['action', 'decision allow', 'observation'],
      ['action', 'decision allow', 'observation'],
    ]);
  });
});

async function record(id: string): Promise<readonly WorkcellEvent[]> {
  const response = await fetch(`${url}/v1/records/${id}`, {
    headers: { authorization: `Bearer ${operatorKey}` },
  });
  return ((await response.json()) as { events: WorkcellEvent[] }).events;
}

const asOperator = () => ({ authorization: `Bearer ${operatorKey}`, 'x-api-key': operatorKey });

async function text(address: string, { headers, ...init }: RequestInit = {}): Promise<string> {
  return (await fetch(address, { ...init, headers: headers ?? asOperator() })).text();
}

function statuses(body: string, addresses: readonly string[], headers: Record<string, string> = {}) {
  const all = { 'content-type': 'application/json', ...asOperator(), ...headers };
  return Promise.all(
    addresses.map(async (address) => {
      // A request that names a sandbox is none for the control API.
      const { 'e2b-sandbox-id': _, ...control } = all as Record<string, string>;
      const isControl = address === `${url}/sandboxes`;
      return (await fetch(address, { method: 'POST', headers: isControl ? control : all, body })).status;
    }),
  );
}

async function post(address: string, body: object, headers?: Record<string, string>): Promise<string> {
  const response = await fetch(address, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(headers ?? asOperator()),
    },
    body: JSON.stringify(body),
  });
  return response.text();
}
