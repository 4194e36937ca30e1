/** Every adapter with guards on and with secrets set: none of them passes the runtime by. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { RunContext } from '@openai/agents-core';
import { expect, test } from 'vitest';
import { acpHandlers } from '../../src/adapters/acp.js';
import { aiSdkSandbox, aiSdkTools } from '../../src/adapters/ai-sdk.js';
import { claudeMcpServer } from '../../src/adapters/claude-agent-sdk.js';
import { ComputeSdkSandbox } from '../../src/adapters/computesdk.js';
import { WorkcellSandbox } from '../../src/adapters/deepagents.js';
import { langchainTools } from '../../src/adapters/langchain.js';
import { WorkcellMastraSandbox } from '../../src/adapters/mastra.js';
import { openaiAgentsTools } from '../../src/adapters/openai-agents.js';
import { callTool } from '../../src/adapters/schemas.js';
import { type CreateRuntimeOptions, createRuntime, type Runtime } from '../../src/index.js';
import { rules } from '../../src/runtime/security/index.js';
import { offered } from './runtime.js';

/** Runs a command the way an agent of that framework does, and gives all that the agent sees. */
const ways: Readonly<Record<string, (runtime: Runtime, command: string) => Promise<unknown>>> = {
  'tools of the AI SDK': async (runtime, command) =>
    aiSdkTools(runtime, offered).run?.execute({ command }, {}),
  'the sandbox of the AI SDK': (runtime, command) => aiSdkSandbox(runtime).run({ command }),
  'a terminal of the Agent Client Protocol': async (runtime, command) => {
    const { 'terminal/create': create, ...terminal } = acpHandlers(runtime);
    const [sessionId, { signal }] = ['only', new AbortController()];
    const request = {
      signal,
      params: { sessionId, ...(await create({ signal, params: { sessionId, command } })) },
    };
    await terminal['terminal/wait_for_exit'](request);
    return terminal['terminal/output'](request);
  },
  'the server of the Claude Agent SDK': async (runtime, command) => {
    const [here, there] = InMemoryTransport.createLinkedPair();
    await claudeMcpServer(runtime, offered).instance.connect(there);
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(here);
    return client.callTool({ name: 'run', arguments: { command } }).finally(() => client.close());
  },
  'the sandbox of ComputeSDK': (runtime, command) =>
    new ComputeSdkSandbox(runtime, {}, () => {}).runCommand(command),
  'the backend of deepagents': async (runtime, command) => new WorkcellSandbox(runtime).execute(command),
  'tools of LangChain': async (runtime, command) => {
    const run = langchainTools(runtime, offered).find(({ name }) => name === 'run');
    return run?.invoke({ name: 'run', id: '1', type: 'tool_call', args: { command } });
  },
  'the sandbox of Mastra': (runtime, command) => new WorkcellMastraSandbox(runtime).executeCommand(command),
  'tools of the OpenAI Agents SDK': async (runtime, command) => {
    const run = openaiAgentsTools(runtime, offered).find(({ name }) => name === 'run');
    return run?.invoke(new RunContext(), JSON.stringify({ command }));
  },
  'schemas for any framework': (runtime, command) =>
    callTool(runtime, { name: 'run', arguments: JSON.stringify({ command }) }),
};

async function seen(way: string, runtime: Runtime, command: string): Promise<string> {
  const answer = ways[way]?.(runtime, command);
  return JSON.stringify(await answer?.catch((error: unknown) => ({ failed: String(error) })));
}

const start = (options: Partial<CreateRuntimeOptions>) =>
  createRuntime({
    config: false,
    backend: 'sandbox',
    events: { store: 'memory' },
    ...options,
  } as CreateRuntimeOptions);

test.each(Object.keys(ways))('%s with guards: what is denied does not happen, the rest does', async (way) => {
  await using runtime = await start({
    guards: [rules()],
    policy: { rules: [{ decision: 'deny', command: 'touch *', reason: 'not today' }] },
  });
  expect(await seen(way, runtime, 'touch denied; echo done')).toContain('not today');
  expect(await seen(way, runtime, 'echo made >allowed; echo done')).toContain('done');
  expect((await runtime.files.list()).map(({ name }) => name)).toEqual(['allowed']);
});

test.each(Object.keys(ways))('%s with secrets: a value is used and never seen', async (way) => {
  const value = 'v-1234567890-secret';
  await using runtime = await start({ secrets: { API_TOKEN: { value, reach: 'env' } } });
  const shown = await seen(
    way,
    runtime,
    'echo "$API_TOKEN has ${#API_TOKEN}"; printf %s "$API_TOKEN" | base64',
  );
  expect(shown).toContain(`has ${value.length}`);
  expect(shown).not.toContain(value);
  expect(shown).not.toContain(Buffer.from(value).toString('base64').slice(0, -4));
});
