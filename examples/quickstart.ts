/** Your first program: start a cell, carry out what a model asks for, print the answer. */
import assert from 'node:assert/strict';
import { createRuntime } from 'workcell';
import { callTool, openaiTools } from 'workcell/adapters/schemas';

await using runtime = await createRuntime();
await runtime.write('greet.sh', 'echo "Hello, $1"\n');

// Give these to your model: names, descriptions and JSON schemas.
const offered = { actions: ['run', 'read', 'edit'] };
console.log(openaiTools(runtime, offered).map((tool) => tool.function.name));

// A model answers with calls like these. Each runs in the cell, under your policy, and goes into the record.
const calls = [
  { name: 'edit', arguments: '{"path":"greet.sh","oldText":"Hello","newText":"Welcome"}' },
  { name: 'run', arguments: '{"command":"bash greet.sh Workcell"}' },
];
for (const call of calls) {
  const { text } = await callTool(runtime, call, offered);
  console.log(text);
}

const { output, exitCode } = await runtime.run('bash greet.sh Workcell');
assert.equal(output.trimEnd(), 'Welcome, Workcell');
assert.equal(exitCode, 0);
