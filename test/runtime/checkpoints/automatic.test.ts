import { expect, it } from 'vitest';
import { type Checkpoint, createRuntime, type Runtime } from '../../../src/index.js';

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

it('takes the place of no checkpoint that somebody asked for', async () => {
  await using runtime = await open('sandbox', { keep: 3 });
  await runtime.run('echo 0 > a');
  await runtime.checkpoint('before the refactoring');
  for (const round of [1, 2, 3, 4, 5, 6]) await runtime.write('a', String(round));
  expect(runtime.checkpoints().map(({ label }) => label)).toEqual([
    'before the refactoring',
    'before write',
    'before write',
    'before write',
  ]);
});

it('takes no more space in all than one checkpoint may', async () => {
  await using runtime = await open('sandbox', { maxBytes: 250_000 });
  await runtime.run('head -c 100000 /dev/zero > same');
  for (const round of [1, 2, 3, 4])
    await runtime.run(`head -c 100000 /dev/urandom > a${round % 2}; rm -f a${(round + 1) % 2}`);
  await runtime.run('true');
  const kept = runtime.checkpoints();
  expect(kept.length).toBe(2);
  await runtime.rewind(kept[0] as Checkpoint);
  expect((await runtime.run('cat a1 same | wc -c')).output).toBe('200000\n');
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
