import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { describe, expect, test } from 'vitest';
import { claudeMcpServer } from '../../src/adapters/claude-agent-sdk.js';
import { compile, obstacle, patience, runProgram } from './frameworks.js';
import { offered, runtimeWithTool } from './runtime.js';

describe.skipIf(obstacle)(obstacle ?? 'with the Claude Agent SDK', patience, () => {
  test('what the agent calls runs in the cell', () => {
    expect(runProgram('claude-agent.ts')).toEqual({ status: 0, output: '' });
  });

  test('the shape is the one that the SDK declares', () => {
    const source = `
      import type { Options } from '@anthropic-ai/claude-agent-sdk';
      import type { Runtime } from 'workcell';
      import { claudeMcpServer } from 'workcell/adapters/claude-agent-sdk';
      declare const runtime: Runtime;
      export const options: Options = { mcpServers: { workcell: claudeMcpServer(runtime) }, tools: [] };`;
    expect(compile(source)).toBe('');
  });
});

test('the entry is an MCP server in this process, with the tools of the runtime', async () => {
  await using runtime = await runtimeWithTool();
  const { type, name, instance } = claudeMcpServer(runtime, offered);
  expect({ type, name }).toEqual({ type: 'sdk', name: 'workcell' });
  const [here, there] = InMemoryTransport.createLinkedPair();
  await instance.connect(there);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(here);
  const { tools } = await client.listTools();
  expect(tools.map((tool) => tool.name)).toEqual(['double', 'run', 'read', 'write']);
  const ran = await client.callTool({ name: 'run', arguments: { command: 'echo from the cell' } });
  expect(JSON.stringify(ran.content)).toContain('from the cell');
  await expect(client.callTool({ name: 'edit', arguments: {} })).rejects.toThrow('There is no tool "edit"');
  await client.close();
});
