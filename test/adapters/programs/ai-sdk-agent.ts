/** The real AI SDK, with a model that follows a script and the runtime in both forms: tools and sandbox. */
import assert from 'node:assert/strict';
import { aiSdkSandbox, aiSdkTools } from '../../../src/adapters/ai-sdk.js';
import { framework } from '../frameworks.js';
import { offered, runtimeWithTool } from '../runtime.js';

interface Call {
  readonly prompt: readonly { readonly role: string; readonly content: unknown }[];
}

// biome-ignore lint/suspicious/noExplicitAny: the packages are not there when this is compiled
const { generateText, tool, jsonSchema, stepCountIs } = framework('ai') as any;
// biome-ignore lint/suspicious/noExplicitAny: as above
const { MockLanguageModelV4 } = framework('ai/test') as any;

await using runtime = await runtimeWithTool();
await runtime.write('dot.png', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'));

const calls: [name: string, args: object][] = [
  ['double', { n: 21 }],
  ['run', { command: 'echo from the cell' }],
  ['read', { path: 'none' }],
  ['read', { path: 'dot.png' }],
  ['sandboxed', {}],
];
let turn = 0;
const model = new MockLanguageModelV4({
  doGenerate: async () => {
    const [toolName, args] = calls[turn++] ?? [];
    const isEnd = toolName === undefined;
    return {
      content: isEnd
        ? [{ type: 'text', text: 'done' }]
        : [{ type: 'tool-call', toolCallId: `call-${turn}`, toolName, input: JSON.stringify(args) }],
      finishReason: { unified: isEnd ? 'stop' : 'tool-calls', raw: undefined },
      usage: { inputTokens: {}, outputTokens: {} },
      warnings: [],
    };
  },
});

const sandboxed = tool({
  description: 'Uses the sandbox that the SDK hands to tools.',
  inputSchema: jsonSchema({ type: 'object', properties: {} }),
  execute: async (_: unknown, options: { experimental_sandbox: ReturnType<typeof aiSdkSandbox> }) =>
    (await options.experimental_sandbox.run({ command: 'echo in the sandbox' })).stdout,
});

const { text } = await generateText({
  model,
  prompt: 'go',
  tools: { ...aiSdkTools(runtime, offered), sandboxed },
  experimental_sandbox: aiSdkSandbox(runtime),
  stopWhen: stepCountIs(10),
});
assert.equal(text, 'done');

const [first] = model.doGenerateCalls as (Call & {
  tools: { name: string; inputSchema: { required?: string[] } }[];
})[];
assert.deepEqual(
  first?.tools.map(({ name }) => name),
  ['double', 'run', 'read', 'write', 'sandboxed'],
);
assert.deepEqual(first?.tools[0]?.inputSchema.required, ['n']);

const last = model.doGenerateCalls.at(-1) as Call;
const results = last.prompt
  .filter(({ role }) => role === 'tool')
  .map(({ content }) => JSON.stringify(content));
const expected = [
  /42/,
  /from the cell/,
  /error-text.*does not exist|error-text.*none/,
  /image\/png/,
  /in the sandbox/,
];
for (const [index, pattern] of expected.entries()) assert.match(results[index] ?? '', pattern);
