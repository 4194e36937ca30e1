import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRuntime, type FunctionTool, pythonTools, type Runtime } from '../../../src/index.js';
import { type Use, useOf } from '../../../src/testing/contract/tools/alike.js';

const file = new URL('fixtures/tools.py', import.meta.url);
const folder = mkdtempSync(join(tmpdir(), 'python-tools-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the description', () => {
  let tools: FunctionTool[];
  beforeAll(async () => {
    tools = await pythonTools(file);
  });
  const schema = (name: string) => tools.find((entry) => entry.name === name)?.parameters;

  test('comes from signature, types and docstring', () => {
    expect(tools.find(({ name }) => name === 'add')).toMatchObject({
      description: 'Adds two numbers.\n\nWorks for fractions too.',
      parameters: {
        type: 'object',
        properties: {
          a: { type: 'number', description: 'the first' },
          b: { type: 'number', default: 10, description: 'the second, on two lines' },
        },
        required: ['a'],
        additionalProperties: false,
      },
    });
    expect(schema('steps')).toMatchObject({ properties: { upto: { description: 'how many', default: 3 } } });
  });

  test('knows the types of the language and those of the file', () => {
    expect(schema('shapes')).toMatchObject({
      required: ['name', 'tags'],
      properties: {
        name: { type: 'string', description: 'its name' },
        tags: { type: 'array', items: { type: 'string' }, description: 'words' },
        mode: { enum: ['fast', 'slow'], default: 'fast' },
        limit: { type: ['integer', 'null'] },
        extra: { type: 'object', additionalProperties: { type: 'integer' } },
        either: { type: ['integer', 'string'] },
        point: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] },
        color: { enum: ['red', 'blue'] },
        loud: { type: 'boolean', default: false },
      },
    });
  });

  test('private functions are none', () => {
    expect(tools.map(({ name }) => name)).not.toContain('_count');
  });

  test.each([
    ['broken.py', 'def (', 'it is not Python: line 1'],
    ['empty.py', 'x = 1', 'no public function'],
    ['missing.py', undefined, 'cannot be read'],
    ['by-position.py', 'def f(a, /): pass', 'by position only'],
  ])('%s is refused', async (name, source, message) => {
    if (source !== undefined) writeFileSync(join(folder, name), source);
    await expect(pythonTools(join(folder, name))).rejects.toMatchObject({
      code: 'invalid-tool',
      message: expect.stringContaining(message),
    });
  });

  test('nothing of the file runs on this side', async () => {
    const mark = join(folder, 'mark');
    writeFileSync(join(folder, 'evil.py'), `open(${JSON.stringify(mark)}, 'w').close()\ndef f(): pass\n`);
    const [f] = await pythonTools(join(folder, 'evil.py'));
    await expect(f?.execute({})).rejects.toMatchObject({ code: 'tool-failed' });
    expect(() => rmSync(mark)).toThrow();
  });
});

describe.each(['cli', 'sandbox'] as const)('in a %s cell', (backend) => {
  let runtime: Runtime;
  let use: Use;
  beforeAll(async () => {
    runtime = await createRuntime({ config: false, backend });
    use = useOf(runtime.add(await pythonTools(file)).getTools());
  });
  afterAll(() => runtime.close());

  test('functions get their arguments and keep their state', async () => {
    expect(await use('add', { a: 1.5 })).toBe(11.5);
    expect(await use('add', { a: 1, b: null })).toBe(11);
    expect([await use('next_count'), await use('next_count')]).toEqual([1, 2]);
    expect(
      await use('shapes', { name: 'it\'s "quoted"\n', tags: ['ü'], point: { x: 1 }, extra: { a: 1 } }),
    ).toEqual(['it\'s "quoted"\n', ['ü'], 'fast', null, { a: 1 }, 1, ['Point', 1, 0], false]);
  });

  test('generators tell progress, context tells more', async () => {
    const told: unknown[] = [];
    const context = {
      progress: (value: unknown) => told.push(value),
      log: (text: string) => told.push(text),
    };
    expect(await use('steps', { upto: 2 }, context)).toBe('done');
    expect(told).toEqual(['begins', { step: 1 }, { step: 2 }]);
    expect(await use('run', { command: 'echo hi' })).toBe('hi\n');
  });

  test('what concurrent calls print is not mixed', async () => {
    const answers = await Promise.all(
      ['a', 'b', 'c'].map((say) =>
        runtime.execute({ action: 'call_tool', tool: 'wait', arguments: { ms: 30, say } }),
      ),
    );
    expect(answers.map(({ stdout, stderr }) => stdout + stderr)).toEqual(['a\na\n', 'b\nb\n', 'c\nc\n']);
  });

  test('whatever goes wrong has a typed outcome, and the next call works', async () => {
    const call = (tool: string, timeoutMs = 10_000) =>
      runtime.execute({ action: 'call_tool', tool, arguments: {}, timeoutMs });
    await expect(use('add', { a: 'x' })).rejects.toMatchObject({ code: 'invalid-arguments' });
    await expect(use('fail', { what: 'key' })).rejects.toMatchObject({
      code: 'tool-failed',
      details: { name: 'KeyError' },
    });
    await expect(use('fail', { what: 'exit' })).rejects.toMatchObject({ code: 'tool-failed' });
    for (const what of ['cycle', 'nan', 'big', 'huge', 'object'])
      await expect(use('give', { what })).rejects.toMatchObject({ code: 'invalid-result' });
    await expect(call('spin', 50)).rejects.toMatchObject({ code: 'timed-out' });
    await expect(call('sleep_forever', 50)).rejects.toMatchObject({ code: 'timed-out' });
    await expect(call('die')).rejects.toMatchObject({ code: 'tool-host-lost' });
    expect(await use('add', { a: 1 })).toBe(11);
  });
});
