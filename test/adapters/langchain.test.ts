/** Tools of the real LangChain, driven by its own scripted model. */
import { AIMessage, HumanMessage, type ToolMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { langchainTools } from '../../src/adapters/langchain.js';
import type { Runtime } from '../../src/index.js';
import { offered, runtimeWithTool } from './runtime.js';

let runtime: Runtime;
beforeAll(async () => {
  runtime = await runtimeWithTool();
});
afterAll(() => runtime.close());

test('what the model asks for is done in the cell and comes back as a tool message', async () => {
  const tools = langchainTools(runtime, offered);
  const model = fakeModel()
    .respondWithTools([{ name: 'double', args: { n: 21 }, id: '1' }])
    .respondWithTools([{ name: 'run', args: { command: 'echo from the cell' }, id: '2' }])
    .respondWithTools([{ name: 'read', args: { path: 'none' }, id: '3' }])
    .respond(new AIMessage('done'));
  const bound = model.bindTools(tools);
  const messages: (AIMessage | HumanMessage | ToolMessage)[] = [new HumanMessage('go')];
  for (;;) {
    const asked = (await bound.invoke(messages)) as AIMessage;
    messages.push(asked);
    if (asked.tool_calls?.length === 0 || asked.tool_calls === undefined) break;
    for (const call of asked.tool_calls) {
      const tool = tools.find(({ name }) => name === call.name);
      messages.push((await tool?.invoke({ ...call, type: 'tool_call' })) as ToolMessage);
    }
  }
  const answers = messages.filter((message): message is ToolMessage => message.type === 'tool');
  expect(answers.map(({ content }) => content)).toEqual([
    expect.stringContaining('42'),
    expect.stringContaining('from the cell'),
    expect.stringMatching(/^not-found: /),
  ]);
  expect(answers[1]?.artifact).toMatchObject({ exitCode: 0 });
});

test('arguments that do not fit are an answer, and a cancelled call is none', async () => {
  const run = langchainTools(runtime, offered).find(({ name }) => name === 'run');
  const call = { name: 'run', id: '1', type: 'tool_call' as const, args: { command: 'sleep 60' } };
  await expect(run?.invoke(call, { signal: AbortSignal.abort() })).rejects.toThrow();
  const read = langchainTools(runtime, offered).find(({ name }) => name === 'read');
  const wrong = await read?.invoke({ ...call, name: 'read', args: { path: 'none', startLine: 1 } });
  expect((wrong as ToolMessage).content).toMatch(/^not-found/);
});
