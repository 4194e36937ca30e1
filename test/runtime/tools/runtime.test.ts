import { expect, test } from 'vitest';
import { createRuntime, tool } from '../../../src/index.js';

const shout = tool({
  name: 'shout',
  description: '',
  parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
  execute: ({ command }) => String(command).toUpperCase(),
});

test('calls are recorded like any action, and shipments without their source', async () => {
  await using runtime = await createRuntime({ config: false, backend: 'cli', events: { store: 'memory' } });
  await runtime.add(shout).callTool('shout', { command: 'x' });
  const seen: unknown[] = [];
  for await (const event of runtime.events) {
    if (event.kind === 'action') seen.push([event.source, event.action]);
    if (event.kind === 'observation' && event.observation.observation === 'call_tool') {
      expect(event.observation).toMatchObject({ tool: 'shout', result: 'X' });
      break;
    }
  }
  expect(seen).toMatchObject([
    ['user', { action: 'install_tools', source: expect.stringMatching(/^\d+ bytes$/) }],
    ['agent', { action: 'call_tool', tool: 'shout', arguments: { command: 'x' } }],
  ]);
});

test('a policy judges calls by what they are called with', async () => {
  await using runtime = await createRuntime({
    config: false,
    backend: 'cli',
    events: { store: 'memory' },
    policy: {},
  });
  runtime.add(shout);
  expect((await runtime.callTool('shout', { command: 'ls' })).result).toBe('LS');
  await expect(runtime.callTool('shout', { command: 'rm -rf /' })).rejects.toMatchObject({
    code: expect.stringMatching(/^(denied|confirmation-timeout)$/),
  });
});

test('what the owner has done shows no secret either', async () => {
  const name = 'a-secret-value';
  await using runtime = await createRuntime({
    config: false,
    backend: 'cli',
    events: { store: 'memory' },
    secrets: { KEY: { value: name } },
  });
  const quiet = tool({ name, description: '', execute: () => 1 });
  expect((await runtime.add(quiet).callTool(name)).result).toBe(1);
  await runtime.close();
  const events: unknown[] = [];
  for await (const event of runtime.events) events.push(event);
  expect(JSON.stringify(events)).toContain('"install_tools","tools":["[hidden:KEY]"]');
  expect(JSON.stringify(events)).not.toContain(name);
});

test('what tools return and print shows no secret', async () => {
  await using runtime = await createRuntime({
    config: false,
    backend: 'cli',
    events: { store: 'memory' },
    secrets: { KEY: { value: 'a-secret-value' } },
  });
  const leak = tool({
    name: 'leak',
    description: '',
    execute: (_, { progress }) => {
      const text = ['a', 'secret', 'value'].join('-');
      console.log(text);
      progress({ text });
      return { deep: [text] };
    },
  });
  const told: unknown[] = [];
  const answer = await runtime.add(leak).callTool('leak', {}, { progress: (value) => told.push(value) });
  expect(JSON.stringify([answer, told])).not.toContain('a-secret-value');
  expect(told).toHaveLength(1);
});
