/** A real deep agent, with LangChain's scripted model and the runtime as its backend. */
import assert from 'node:assert/strict';
import { WorkcellSandbox } from '../../../src/adapters/deepagents.js';
import { framework } from '../frameworks.js';
import { runtimeWithTool } from '../runtime.js';

// biome-ignore lint/suspicious/noExplicitAny: the packages are not there when this is compiled
const { createDeepAgent } = framework('deepagents') as any;
// biome-ignore lint/suspicious/noExplicitAny: as above
const { fakeModel } = framework('@langchain/core/testing') as any;
// biome-ignore lint/suspicious/noExplicitAny: as above
const { AIMessage } = framework('@langchain/core/messages') as any;

await using runtime = await runtimeWithTool();
const at = (name: string) => `${runtime.workspace}/${name}`;
const steps: [name: string, args: object, expected: RegExp][] = [
  ['write_file', { file_path: at('a/note.txt'), content: 'one\ntwo\n' }, /note\.txt/],
  ['edit_file', { file_path: at('a/note.txt'), old_string: 'two', new_string: '2' }, /note\.txt/],
  ['read_file', { file_path: at('a/note.txt') }, /one[\s\S]*2/],
  ['ls', { path: runtime.workspace }, /\/a/],
  ['glob', { pattern: '**/*.txt', path: runtime.workspace }, /a\/note\.txt/],
  ['grep', { pattern: 'one', path: runtime.workspace }, /note\.txt/],
  ['execute', { command: 'cat a/note.txt; echo no >&2; exit 3' }, /one\n2\nno\n[\s\S]*3/],
  ['read_file', { file_path: at('none') }, /not-found/],
];
const model = fakeModel();
for (const [index, [name, args]] of steps.entries())
  model.respondWithTools([{ name, args, id: `call-${index}` }]);
model.respond(new AIMessage('done'));

const agent = createDeepAgent({ model, backend: new WorkcellSandbox(runtime) });
const { messages } = (await agent.invoke(
  { messages: [{ role: 'user', content: 'go' }] },
  { recursionLimit: 100 },
)) as { messages: { type: string; text: string }[] };
const answers = messages.filter(({ type }) => type === 'tool').map(({ text }) => text);
for (const [index, [name, , expected]] of steps.entries())
  assert.match(answers[index] ?? '', expected, `what ${name} gave`);
assert.equal(messages.at(-1)?.text, 'done');
