/** What clients ask of cells of a service is judged, recorded and masked there, whatever protocol they speak. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  close(): Promise<void>;
}

const ways: Record<string, () => Promise<Way>> = {
  'the native API': async () => {
    const operator = new ServiceClient({ url, apiKey: operatorKey });
    const { id } = await operator.create({});
    return {
      id,
      run: (command) => post(`${operator.address(id)}/v1/actions`, { action: 'run', command }),
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
    return {
      id: started.runtime_id,
      run: (command) =>
        post(
          `${started.url}/execute_action`,
          { action: { action: 'run', args: { command } } },
          { 'x-session-api-key': started.session_api_key },
        ),
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
});

async function record(id: string): Promise<readonly WorkcellEvent[]> {
  const response = await fetch(`${url}/v1/records/${id}`, {
    headers: { authorization: `Bearer ${operatorKey}` },
  });
  return ((await response.json()) as { events: WorkcellEvent[] }).events;
}

async function post(address: string, body: object, headers?: Record<string, string>): Promise<string> {
  const response = await fetch(address, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(headers ?? { authorization: `Bearer ${operatorKey}`, 'x-api-key': operatorKey }),
    },
    body: JSON.stringify(body),
  });
  return response.text();
}
