/** Typed functions for an agent, carried out inside a sandbox. */
import assert from 'node:assert/strict';
import { createRuntime, openaiTool, tool } from 'workcell';
import { mathToolkit } from 'workcell/toolkits/math';
import { z } from 'zod';

// It needs nothing from outside, so its source ships unchanged; put a tool that needs imports into a module.
const count = tool({
  name: 'count_words',
  description: 'Counts the words of a file in the workspace.',
  parameters: z.object({ path: z.string(), longerThan: z.int().default(0) }),
  returns: z.int(),
  readOnly: true,
  execute: async ({ path, longerThan }, { runtime }) => {
    const file = await runtime?.execute({ action: 'read', path });
    return (file?.content ?? '').split(/\s+/).filter((word) => word.length > longerThan).length;
  },
});

await using runtime = await createRuntime({ config: false, backend: 'sandbox' });
runtime.add(count).add(mathToolkit(), 'workcell/toolkits/math');
await runtime.write('poem.txt', 'so much depends upon a red wheel barrow');

// What a model sees, and what happens when it answers with calls.
const shown = runtime.getTools().map((entry) => openaiTool(entry, { strict: true }));
assert.deepEqual(shown[0]?.function.parameters.required, ['path', 'longerThan']);
const answers = [
  { name: 'count_words', arguments: '{"path":"poem.txt","longerThan":null}' },
  { name: 'count_words', arguments: '{"path":"poem.txt","longerThan":4}' },
  { name: 'multiply', arguments: '{"a":6,"b":7}' },
];
const results: unknown[] = [];
for (const { name, arguments: text } of answers)
  results.push((await runtime.callTool(name, JSON.parse(text))).result);
assert.deepEqual(results, [8, 3, 42]);

await assert.rejects(runtime.callTool('divide', { a: 1, b: 0 }), { code: 'tool-failed' });
console.log(`The tools answered ${results.join(', ')}.`);
