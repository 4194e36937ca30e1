import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
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

describe('what the cell tells of Python', () => {
  const kits = fileURLToPath(new URL('fixtures/kits.py', import.meta.url));
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await createRuntime({ config: false, backend: 'cli', workspace: dirname(kits) });
  });
  afterAll(() => runtime.close());
  const names = async (entry: string) => (await runtime.findTools(entry)).map(({ name }) => name);

  test.each([
    ['#Counter', ['next']],
    ['#both', ['greet', 'multiply']],
    ['#greet', ['greet']],
    ['#make{"greeting":"good day"}', ['say', 'greet']],
    ['#Toolkit', ['multiply']],
  ])('%s of a file', async (behind, expected) => {
    expect(await names(`${kits}${behind}`)).toEqual(expected);
  });

  test('a name in a module that the cell can import', async () => {
    const [tool] = await runtime.findTools('kits.Toolkit');
    expect(tool).toMatchObject({
      description: 'Multiplies.',
      // A caller can omit what has a default, whatever a strict schema says.
      parameters: { required: ['a', 'b'], properties: { places: { type: ['integer', 'null'] } } },
    });
    runtime.add(await runtime.findTools('kits.Toolkit'));
    const call = async (input: unknown) => (await runtime.callTool('multiply', input)).result;
    expect(await call({ a: 2, b: 3 })).toEqual([6, 2]);
    expect(await call({ a: 2, b: 3, places: null })).toEqual([6, 2]);
    expect(await call({ a: 2, b: 3, places: 0 })).toEqual([6, 0]);
    await expect(call({ a: 2, b: 3, digits: 0 })).rejects.toThrow('digits: is not a known parameter');
  });

  test('keeps one toolkit for each way it was made', async () => {
    const five = await runtime.findTools(`${kits}#Counter{"start":5}`);
    expect(five).toMatchObject([
      {
        name: 'next',
        description: 'The next number.',
        parameters: {
          properties: { step: { type: 'integer', default: 1, description: 'how far' } },
          required: [],
        },
      },
    ]);
    runtime.add(five);
    expect((await runtime.callTool('next')).result).toBe(6);
    await runtime.findTools('kits.Counter');
    await runtime.findTools(`${kits}#Counter{"start":5}`);
    expect((await runtime.callTool('next')).result).toBe(7);
  });

  test.each([
    ['kits.Absent', 'cannot import name'],
    ['absent_module.Kit', "No module named 'absent_module'"],
    [`${kits}#Absent`, 'there is no Absent in the module. It has: Counter'],
    [`${kits}#odd`, "'not a name' cannot be the name of a tool"],
    [`${kits}#nothing`, 'has no tools'],
    [`${kits}#nothing{"a":1}`, 'takes no arguments'],
    [`${kits}#Counter{"begin":1}`, "unexpected keyword argument 'begin'"],
    [
      `${kits}{"start":1}`,
      'arguments are for one class, and the module has these: Counter, SchemaTool, Toolkit',
    ],
    [`${kits}#Counter[1]`, '"Counter[1]" is not a name of Python'],
    [`${kits}#Counter{"start":}`, 'is not JSON'],
    ['/absent/kits.py#Kit', 'cannot be read'],
  ])('%s leads nowhere: %s', async (entry, message) => {
    await expect(runtime.findTools(entry)).rejects.toThrow(message);
  });

  test('JavaScript is as before', async () => {
    expect(await names('workcell/toolkits/math')).toContain('add');
    await expect(
      runtime.execute({ action: 'install_tools', language: 'javascript', source: '' }),
    ).rejects.toMatchObject({ code: 'invalid-action' });
  });

  test('can be named at the start', async () => {
    const tools = [`${kits}#Counter{"start":1}`, { entry: 'kits.make', arguments: { greeting: 'hi' } }];
    await using other = await createRuntime({
      config: false,
      backend: 'sandbox',
      workspace: dirname(kits),
      tools,
    });
    expect(other.getTools().map(({ name }) => name)).toEqual(['next', 'say', 'greet']);
    expect((await other.callTool('next')).result).toBe(2);
    expect((await other.callTool('say', { name: 'you' })).result).toBe('hi you');
  });
});
