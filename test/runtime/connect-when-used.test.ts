/** MCP servers that the owner named, when some of them do not work. */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createRuntime, type Runtime } from '../../src/index.js';

const hostile = fileURLToPath(new URL('../cell/plugins/mcp/hostile-server.mjs', import.meta.url));
const server = (how: string) => ({ command: 'node', args: [hostile, how] });
const common = { config: false, backend: 'cli', events: { store: 'memory' } } as const;

async function eventsOf(runtime: Runtime): Promise<string[]> {
  const events: string[] = [];
  for await (const event of runtime.events) events.push(JSON.stringify(event));
  return events;
}

test('those that work are used, and those that do not fail only what names them', async () => {
  const runtime = await createRuntime({
    ...common,
    mcp: {
      good: {
        ...server('plain'),
        args: [hostile, 'plain', '--key', 'sk-ARGUMENT'],
        env: { KEY: 'sk-VARIABLE' },
      },
      bad: { command: 'false', env: { KEY: '${NAME}' } },
      gone: {
        url: 'http://user:sk-PASSWORD@127.0.0.1:1/sk-PATH?key=sk-QUERY',
        headers: { key: 'sk-HEADER' },
      },
    },
    secrets: { NAME: { value: 'a-secret-of-the-owner', reach: 'env' } },
  });
  for (const count of [1, 2, 3]) {
    const answer = await runtime.mcp.call('act', {}, count === 2 ? { server: 'good' } : {});
    expect(answer).toMatchObject({ server: 'good', content: [{ text: `call ${count}` }] });
  }
  const bad = { code: 'mcp-failed', message: expect.stringContaining('"bad" cannot be used') };
  await expect(runtime.mcp.call('act', {}, { server: 'bad' })).rejects.toMatchObject(bad);
  await expect(runtime.mcp.call('other')).rejects.toMatchObject({
    code: 'tool-not-found',
    message: expect.stringContaining('"bad" cannot be used'),
  });
  expect(await runtime.mcp.servers()).toMatchObject([
    { name: 'bad', state: 'failed' },
    { name: 'gone', state: 'failed' },
    { name: 'good', state: 'connected' },
  ]);
  await runtime.close();
  const events = await eventsOf(runtime);
  const asked = events.filter((event) => event.includes('"action":"connect_mcp"'));
  // Once for each, and once more for the call that named one that had failed.
  expect(asked).toHaveLength(4);
  expect(asked.join()).toContain('"env":{"KEY":"[secret]"}');
  expect(asked.join()).toContain('${NAME}');
  expect(asked.join()).toContain('http://127.0.0.1:1"');
  expect(events.join()).not.toContain('sk-');
});

test('neither a cancelled call nor the close of the runtime waits for one that never answers', async () => {
  const runtime = await createRuntime({ ...common, mcp: { mute: server('mute') } });
  const stop = new AbortController();
  const listing = runtime.execute({ action: 'list_mcp_tools' }, { signal: stop.signal });
  // One that has waited for longer is not cancelled with it.
  const other = runtime.execute({ action: 'list_mcp_tools' });
  const given = runtime.execute({
    action: 'connect_mcp',
    servers: { slow: server('mute') },
    timeoutMs: 2_000_000_000,
  });
  const ends = Promise.allSettled([other, given]);
  for await (const event of runtime.events.since(0))
    if (event.kind === 'action' && event.source === 'user') break;
  stop.abort();
  await expect(listing).rejects.toMatchObject({ code: 'cancelled' });
  await runtime.close();
  await ends;
  const events = await eventsOf(runtime);
  expect(events.filter((event) => event.includes('"kind":"action"'))).toHaveLength(4);
  expect(events.join()).not.toContain('did not answer in time');
});
