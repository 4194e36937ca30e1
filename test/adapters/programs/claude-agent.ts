/** The real Claude Agent SDK; only the program that it starts is a script. */
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { claudeMcpServer } from '../../../src/adapters/claude-agent-sdk.js';
import { framework } from '../frameworks.js';
import { offered, runtimeWithTool } from '../runtime.js';

// biome-ignore lint/suspicious/noExplicitAny: the package is not there when this is compiled
const { query } = framework('@anthropic-ai/claude-agent-sdk') as any;

await using runtime = await runtimeWithTool();
const options = {
  pathToClaudeCodeExecutable: fileURLToPath(new URL('claude-script.mjs', import.meta.url)),
  executable: process.execPath,
  mcpServers: { workcell: claudeMcpServer(runtime, offered) },
  tools: [],
};
let result = '';
for await (const message of query({ prompt: 'go', options }))
  if (message.type === 'result') result = message.result;
assert.match(result, /^double run read write: from the cell\n\[exit code 0; in /);
