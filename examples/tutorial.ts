/** An agent that repairs a failing test of a project, under a policy, with a network rule, and with a record. */
import assert from 'node:assert/strict';
import { createRuntime } from 'workcell';
import { callTool, openaiToolMessages, openaiTools } from 'workcell/adapters/schemas';
import { rules } from 'workcell/security';

// 1. The cell: its own files, the registry that your npm uses, and what may happen without you.
await using runtime = await createRuntime({
  network: { preset: ['npm'] },
  guards: [rules()],
  policy: {
    rules: [{ decision: 'deny', command: 'git push *', reason: 'Pushing is for people.' }],
    onRisk: { low: 'allow', medium: 'allow', high: 'deny', unknown: 'deny' },
  },
});

// 2. The project, with a defect in it. With `workspace: '.'` it would be the directory that you are in.
await runtime.write('sum.mjs', 'export const sum = (a, b) => a - b;\n');
await runtime.write(
  'sum.test.mjs',
  "import assert from 'node:assert';\nimport { sum } from './sum.mjs';\nassert.equal(sum(2, 3), 5);\n",
);

// 3. The loop: the model asks, the cell answers, until the model is content.
const offered = { actions: ['run', 'read', 'edit'] };
const messages: object[] = [
  { role: 'user', content: 'node sum.test.mjs fails. Repair sum.mjs, and say what was wrong.' },
];
for (let turn = 0; turn < 20; turn++) {
  const { content, tool_calls: calls = [] } = await ask(messages, turn);
  messages.push({ role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) });
  if (calls.length === 0) {
    console.log(content);
    break;
  }
  for (const { id, function: call } of calls) {
    const result = await callTool(runtime, call, offered);
    console.log(`${call.name} ${call.arguments}\n  ${result.text.trim().replaceAll('\n', '\n  ')}`);
    messages.push(...openaiToolMessages(id, result));
  }
}

const { exitCode } = await runtime.run('node sum.test.mjs');
assert.equal(exitCode, 0);

interface Reply {
  readonly content: string | null;
  readonly tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[];
}

/** Asks any API in the form of OpenAI's. Without a key it plays a rehearsal, so you can try the rest first. */
async function ask(conversation: readonly object[], turn: number): Promise<Reply> {
  const { MODEL_URL = 'https://api.openai.com/v1', MODEL = 'gpt-5-mini', MODEL_KEY } = process.env;
  if (MODEL_KEY === undefined) return rehearsal(turn);
  const response = await fetch(`${MODEL_URL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${MODEL_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, messages: conversation, tools: openaiTools(runtime, offered) }),
  });
  if (!response.ok) throw new Error(`The model answered ${response.status}: ${await response.text()}`);
  const { choices } = (await response.json()) as { choices: [{ message: Reply }] };
  return choices[0].message;
}

function rehearsal(turn: number): Reply {
  const steps = [
    step('run', { command: 'node sum.test.mjs' }),
    step('run', { command: 'curl -s http://metrics.example.com/started' }),
    step('run', { command: 'git push origin main' }),
    step('read', { path: 'sum.mjs' }),
    step('edit', { path: 'sum.mjs', oldText: 'a - b', newText: 'a + b' }),
    step('run', { command: 'node sum.test.mjs' }),
  ];
  return steps[turn] ?? { content: 'sum subtracted where it has to add. The test passes now.' };
}

function step(name: string, args: object): Reply {
  const call = { id: name, type: 'function' as const, function: { name, arguments: JSON.stringify(args) } };
  return { content: null, tool_calls: [call] };
}
