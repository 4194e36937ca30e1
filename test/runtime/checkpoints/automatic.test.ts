import { expect, it } from 'vitest';
import { createRuntime, type Runtime } from '../../../src/index.js';

const open = (backend: 'sandbox' | 'cli', more: object = {}) =>
  createRuntime({
    config: false,
    backend,
    workspace: { mode: 'empty', automatic: true, ...more },
    plugins: [],
    tools: [],
  });

it('makes a checkpoint before each action that may change files, and none where nothing changed', async () => {
  await using runtime = await open('sandbox');
  await runtime.write('a', 'one');
  await runtime.run('echo two > a; chmod 600 a');
  await runtime.run('cat a');
  await runtime.run('true');
  await runtime.read('a');
  await runtime.run('rm a');
  expect(runtime.checkpoints().map(({ label, files }) => `${label}: ${files}`)).toEqual([
    'before write: 0',
    'before run: 1',
    'before run: 1',
  ]);
  const last = runtime.checkpoints().at(-1);
  await runtime.rewind(last?.id ?? '');
  expect((await runtime.run('cat a; stat -c %a a')).output).toBe('two\n600\n');
});

it('carries the action out without one where that is not possible, and says so', async () => {
  await using runtime = await open('sandbox', { maxFiles: 3 });
  await runtime.run('touch a b c d');
  expect((await runtime.run('rm a b; ls | cat')).output).toBe('c\nd\n');
  await runtime.run('true');
  expect(await records(runtime, 3)).toEqual(['created', 'skipped file-too-large', 'created']);
});

it('carries out what the content of an upload waits for', async () => {
  await using runtime = await open('sandbox');
  async function* content() {
    yield Buffer.from('one ');
    yield Buffer.from((await runtime.run('echo two')).output);
  }
  await runtime.files.upload(content(), 'a');
  expect((await runtime.read('a')).content).toBe('one two\n');
  expect(await records(runtime, 2)).toEqual(['created', 'skipped session-busy']);
});

async function records(runtime: Runtime, count: number): Promise<string[]> {
  const seen: string[] = [];
  for await (const event of runtime.events.since(0)) {
    if (event.kind !== 'checkpoint') continue;
    const { change, reason } = event.checkpoint;
    seen.push([change, ...(reason === undefined ? [] : [reason])].join(' '));
    if (seen.length === count) break;
  }
  return seen;
}
