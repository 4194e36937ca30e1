/** A model judges each action before it runs. The model here is a server of this program that answers as one would. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { createRuntime } from 'workcell';
import { llmGuard, rules } from 'workcell/security';

interface Question {
  readonly messages: readonly { readonly content: string }[];
  readonly tool_choice: { readonly function: { readonly name: string } };
}

const model = createServer(async (request, response) => {
  const { messages, tool_choice: choice } = (await json(request)) as Question;
  const leaks = messages.at(-1)?.content.includes('customers.csv') === true;
  const verdict = { score: leaks ? 3 : 1, reason: leaks ? 'It shows data of customers.' : 'It is harmless.' };
  const call = { function: { name: choice.function.name, arguments: JSON.stringify(verdict) } };
  response.end(JSON.stringify({ choices: [{ message: { tool_calls: [call] } }] }));
});
await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve));
const { port } = model.address() as AddressInfo;

const runtime = await createRuntime({
  config: false,
  backend: 'cli',
  events: { store: 'memory' },
  // In your program: the address of an OpenAI-compatible endpoint, its key and the name of a model.
  guards: [rules(), llmGuard({ baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: 'key', model: 'judge' })],
});

await runtime.run('echo fine');
await assert.rejects(runtime.run('cat customers.csv'), (error: Error) => {
  console.log(error.message);
  return /data of customers/.test(error.message);
});

await runtime.close();
model.close();
