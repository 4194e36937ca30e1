import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  anthropicToolResult,
  anthropicTools,
  callTool,
  openaiToolMessages,
  openaiTools,
} from '../../src/adapters/schemas.js';
import type { Runtime } from '../../src/index.js';
import { offered, runtimeWithTool } from './runtime.js';

let runtime: Runtime;
beforeAll(async () => {
  runtime = await runtimeWithTool();
});
afterAll(() => runtime.close());

test('registered tools come first, then the actions that were asked for', () => {
  const names = ['double', 'run', 'read', 'write'];
  expect(openaiTools(runtime, offered).map((tool) => tool.function.name)).toEqual(names);
  const [double, run] = anthropicTools(runtime, offered);
  expect(double?.input_schema).toMatchObject({ type: 'object', required: ['n'] });
  expect(run?.input_schema).toMatchObject({ type: 'object', required: ['command'] });
  expect(run?.input_schema.properties).not.toHaveProperty('action');
});

test("without a choice about ten are offered, and all but the owner's with true", () => {
  const named = (options?: { actions: true }) =>
    openaiTools(runtime, options).map((tool) => tool.function.name);
  const usual = ['run', 'read_output', 'read', 'write', 'edit', 'list', 'glob', 'grep'];
  const ofPlugins = ['run_code', 'browse', 'browse_interactive'];
  expect(named().sort()).toEqual(['double', ...usual, ...ofPlugins].sort());
  expect(named({ actions: true })).toEqual(expect.arrayContaining([...named(), 'start_process', 'stat']));
  for (const name of ['watch', 'call_tool', 'open_cdp']) expect(named({ actions: true })).not.toContain(name);
});

test('a command without a limit comes back alive after the soft limit, and an empty one answers at once', async () => {
  const soft = { handBackMs: 50, session: 'soft' };
  const call = (args: object) => callTool(runtime, { name: 'run', arguments: { ...args } }, soft);
  await runtime.run('mkfifo gate');
  const first = await call({ command: 'read -r word < gate; echo "got $word"' });
  expect(first.text).toMatch(/^\[still running; in /);
  expect((await call({ command: '' })).text).toMatch(/^\[still running; in /);
  await callTool(runtime, { name: 'run', arguments: { command: 'echo word > gate' } });
  expect((await call({ command: '', timeoutMs: 20_000 })).text).toMatch(/^got word\n\[exit code 0; /);
  const { sessions } = await runtime.execute({ action: 'list_sessions' });
  expect(sessions.map(({ session }) => session)).toContain('soft');
});

test('arguments that name a key twice, or are nested without measure, are told and not run', async () => {
  const twice = '{"command":"echo one","command":"touch twice"}';
  const { text, isError } = await callTool(runtime, { name: 'run', arguments: twice });
  expect(isError).toBe(true);
  expect(text).toMatch(/^invalid-arguments: .*names a key twice/);
  const deep = `{"command":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  expect((await callTool(runtime, { name: 'run', arguments: deep })).text).toMatch(/^invalid-arguments: /);
  expect(await runtime.files.exists('twice')).toBe(false);
});

test('only what changes nothing, when asked', () => {
  expect(openaiTools(runtime, { ...offered, readOnly: true }).map((tool) => tool.function.name)).toEqual([
    'read',
  ]);
  expect(openaiTools(runtime, { actions: false }).map((tool) => tool.function.name)).toEqual(['double']);
});

test('an action that does not exist cannot be offered', () => {
  expect(() => openaiTools(runtime, { actions: ['fly'] })).toThrow(/"fly"\. There are .*run/);
});

test('strict schemas require everything, and null takes the default', async () => {
  const run = openaiTools(runtime, { ...offered, strict: true }).find(
    (tool) => tool.function.name === 'read',
  );
  expect(run?.function.strict).toBe(true);
  expect(run?.function.parameters.required).toContain('startLine');
  await runtime.write('null.txt', 'here\n');
  const given = { path: 'null.txt', startLine: null, endLine: null, encoding: null, maxBytes: null };
  const { text } = await callTool(runtime, { name: 'read', arguments: JSON.stringify(given) });
  expect(text).toBe('here\n');
});

test('calls are carried out in the cell, arguments as text or as an object', async () => {
  const doubled = await callTool(runtime, { name: 'double', arguments: '{"n":21}' });
  expect(doubled).toMatchObject({ isError: false, facts: { doubled: 42 } });
  const ran = await callTool(runtime, { name: 'run', arguments: { command: 'echo hi; exit 3' } });
  expect(ran.text).toMatch(/^hi\n\[exit code 3; in /);
  expect(ran.isError).toBe(false);
});

test.each([
  [
    'a tool that is not offered',
    { name: 'edit', arguments: '{}' },
    /^tool-not-found: .*"edit".* not offered/,
  ],
  ['a mistyped tool', { name: 'raed', arguments: '{}' }, /^tool-not-found: .* Did you mean read\?$/],
  ['a tool that does not exist', { name: 'fly', arguments: '{}' }, /^tool-not-found: .*"fly" here\.$/],
  ['text that is no JSON', { name: 'run', arguments: '{' }, /^invalid-arguments: .*"run"/],
  ['JSON that is no object', { name: 'run', arguments: '[1]' }, /^invalid-arguments: /],
  ['arguments that do not fit', { name: 'run', arguments: '{"colour":1}' }, /^invalid-action: .*command/],
  ['arguments that do not fit a tool', { name: 'double', arguments: '{}' }, /^invalid-arguments: .*n/],
  ['a file that is not there', { name: 'read', arguments: '{"path":"none"}' }, /^not-found: /],
])('%s is an answer for the model', async (_, call, text) => {
  const answer = await callTool(runtime, call, offered);
  expect(answer.isError).toBe(true);
  expect(answer.text).toMatch(text);
});

test('a cancelled call is no answer', async () => {
  const signal = AbortSignal.abort();
  const call = { name: 'run', arguments: { command: 'sleep 60' } };
  await expect(callTool(runtime, call, { signal })).rejects.toMatchObject({ code: 'cancelled' });
});

test('a picture comes beside the text', async () => {
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  await runtime.write('dot.png', png);
  const result = await callTool(runtime, { name: 'read', arguments: { path: 'dot.png' } });
  const data = png.toString('base64');
  expect(result.text).toBe('[image/png, 16 bytes]');
  expect(result.pictures).toEqual([{ mediaType: 'image/png', data }]);
  expect(anthropicToolResult('a', result).content).toEqual([
    { type: 'text', text: '[image/png, 16 bytes]' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
  ]);
  expect(openaiToolMessages('a', result)).toEqual([
    { role: 'tool', tool_call_id: 'a', content: '[image/png, 16 bytes]' },
    { role: 'user', content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }] },
  ]);
});
