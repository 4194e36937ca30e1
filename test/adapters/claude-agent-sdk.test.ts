/** What the Claude Agent SDK does with such an entry: it connects a transport to the instance and calls tools. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { expect, test } from 'vitest';
import { claudeMcpServer } from '../../src/adapters/claude-agent-sdk.js';
import { offered, runtimeWithTool } from './runtime.js';

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
