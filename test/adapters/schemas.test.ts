import { afterAll, beforeAll, expect, test } from 'vitest';
import { anthropicTools, callTool, openaiTools } from '../../src/adapters/schemas.js';
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

test('without a choice every action is offered, save those that are no single call', () => {
  const names = openaiTools(runtime).map((tool) => tool.function.name);
  expect(names).toEqual(expect.arrayContaining(['double', 'run', 'edit', 'grep', 'start_process']));
  expect(names).not.toContain('watch');
  expect(names).not.toContain('call_tool');
});

test('only what changes nothing, when asked', () => {
  expect(openaiTools(runtime, { ...offered, readOnly: true }).map((tool) => tool.function.name)).toEqual([
    'read',
  ]);
  expect(openaiTools(runtime, { actions: false }).map((tool) => tool.function.name)).toEqual(['double']);
});

test('an action that does not exist cannot be offered', () => {
  expect(() => openaiTools(runtime, { actions: ['fly'] })).toThrow(/"fly"; there are .*run/);
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
  ['a tool that is not offered', { name: 'edit', arguments: '{}' }, /^tool-not-found: .*"edit"/],
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
  const { text, pictures } = await callTool(runtime, { name: 'read', arguments: { path: 'dot.png' } });
  expect(text).toBe('[image/png, 16 bytes]');
  expect(pictures).toEqual([{ mediaType: 'image/png', data: png.toString('base64') }]);
});
