/** The real runner of the OpenAI Agents SDK, with a model that follows a script. */
import { Agent, type Model, Runner, setTracingDisabled, Usage } from '@openai/agents-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openaiAgentsTools } from '../../src/adapters/openai-agents.js';
import type { Runtime } from '../../src/index.js';
import { offered, runtimeWithTool } from './runtime.js';

let runtime: Runtime;
beforeAll(async () => {
  setTracingDisabled(true);
  runtime = await runtimeWithTool();
});
afterAll(() => runtime.close());

type Asked = readonly [name: string, args: object][];

/** Asks for the calls one after the other, then says what the last one gave. */
function scripted(calls: Asked, seen: unknown[]): Model {
  let turn = 0;
  return {
    async getResponse({ input }) {
      const [name, args] = calls[turn++] ?? [];
      const last = typeof input === 'string' ? undefined : input.at(-1);
      if (last?.type === 'function_call_result') seen.push(last.output);
      return {
        usage: new Usage(),
        output: [
          name === undefined
            ? {
                type: 'message',
                role: 'assistant',
                status: 'completed',
                content: [{ type: 'output_text', text: 'done' }],
              }
            : {
                type: 'function_call',
                callId: `call-${turn}`,
                name,
                arguments: JSON.stringify(args),
                status: 'completed',
              },
        ],
      };
    },
    // biome-ignore lint/correctness/useYield: the runner is not asked to stream
    async *getStreamedResponse() {
      throw new Error('not asked for');
    },
  };
}

test('an agent works in the cell, reads its failures and sees pictures', async () => {
  await runtime.write('dot.png', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'));
  const seen: unknown[] = [];
  const model = scripted(
    [
      ['double', { n: 21 }],
      ['run', { command: 'echo from the cell' }],
      ['read', { path: 'none' }],
      ['read', { path: 'dot.png' }],
    ],
    seen,
  );
  const agent = new Agent({ name: 'worker', model, tools: openaiAgentsTools(runtime, offered) });
  const { finalOutput } = await new Runner().run(agent, 'go');
  expect(finalOutput).toBe('done');
  const [doubled, ran, failed, picture] = seen.map((output) => JSON.stringify(output));
  expect(doubled).toContain('42');
  expect(ran).toContain('from the cell');
  expect(failed).toContain('not-found: ');
  expect(picture).toMatch(/data:image\/png;base64/);
});
