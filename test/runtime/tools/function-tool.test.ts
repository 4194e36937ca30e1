import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { tool } from '../../../src/runtime/tools/function-tool.js';
import { openaiTool } from '../../../src/runtime/tools/openai.js';

const greet = tool({
  name: 'greet',
  description: 'Greets somebody.',
  parameters: z.object({ name: z.string(), times: z.int().default(1), loud: z.boolean().optional() }),
  execute: ({ name, times, loud }) => `${`hello ${name} `.repeat(times).trim()}${loud ? '!' : ''}`,
});

describe('parameters', () => {
  const json = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } as const;
  const cases = {
    zod: tool({
      name: 'half',
      description: '',
      parameters: z.object({ a: z.number() }),
      execute: ({ a }) => a / 2,
    }),
    valibot: tool({
      name: 'half',
      description: '',
      parameters: v.object({ a: v.number() }),
      execute: ({ a }) => a / 2,
    }),
    arktype: tool({
      name: 'half',
      description: '',
      parameters: type({ a: 'number' }),
      execute: ({ a }) => a / 2,
    }),
    'JSON Schema': tool({
      name: 'half',
      description: '',
      parameters: json,
      execute: ({ a }) => Number(a) / 2,
    }),
  };

  test.each(Object.entries(cases))('%s: described as JSON Schema, checked, used', async (_, half) => {
    expect(half.parameters).toMatchObject(json);
    expect(await (half as typeof cases.zod).execute({ a: 3 })).toBe(1.5);
    const problem = await (half as typeof cases.zod).execute({ a: 'x' as never }).catch((error) => error);
    expect(problem).toMatchObject({ code: 'invalid-arguments', details: { issues: [{ path: ['a'] }] } });
  });

  test('every problem is named with its path', async () => {
    const nested = tool({
      name: 'nested',
      description: '',
      parameters: {
        type: 'object',
        properties: {
          list: { type: 'array', items: { type: 'object', required: ['x'] } },
          n: { type: 'integer' },
        },
        required: ['list'],
        additionalProperties: false,
      },
      execute: () => null,
    });
    const error = await nested.execute({ list: [{ x: 1 }, {}], n: 'a', more: 1 }).catch((thrown) => thrown);
    expect(error.details.issues).toEqual(
      expect.arrayContaining([
        { path: ['list', '1', 'x'], message: 'is missing' },
        { path: ['n'], message: 'must be integer' },
        { path: ['more'], message: 'is not a known parameter' },
      ]),
    );
    expect(error.message).toContain('list.1.x: is missing');
  });

  test.each(Object.entries(cases))(
    '%s: what the schema does not know is refused by name',
    async (_, half) => {
      const problem = await (half as typeof cases.zod)
        .execute({ a: 3, b: 4 } as never)
        .catch((error) => error);
      expect(problem.code).toBe('invalid-arguments');
      expect(problem.message).toContain('b: is not a known parameter');
    },
  );

  test('a schema that allows more gets more, and only where it does', async () => {
    const open = z.looseObject({ known: z.object({ x: z.number() }) });
    const echo = tool({ name: 'echo', description: '', parameters: open, execute: (given) => given });
    expect(await echo.execute({ known: { x: 1 }, more: 2 })).toEqual({ known: { x: 1 }, more: 2 });
    const inner = await echo.execute({ known: { x: 1, y: 2 } as never }).catch((error) => error);
    expect(inner.message).toContain('known.y: is not a known parameter');
  });

  test('properties of references and choices are known', async () => {
    const parameters = {
      type: 'object',
      $defs: { point: { type: 'object', properties: { x: {} } } },
      allOf: [{ $ref: '#/$defs/point' }],
      anyOf: [{ properties: { y: {} } }, { properties: { z: {} } }],
    };
    const echo = tool({ name: 'echo', description: '', parameters, execute: (given) => given });
    expect(await echo.execute({ x: 1, y: 2, z: 3 })).toEqual({ x: 1, y: 2, z: 3 });
    await expect(echo.execute({ w: 1 })).rejects.toThrow('w: is not a known parameter');
  });

  test('no schema takes longer to check than is bounded', async () => {
    const text = { type: 'string', pattern: '^(a+)+$' };
    const match = tool({
      name: 'match',
      description: '',
      parameters: { type: 'object', properties: { text } },
      execute: () => 'matches',
    });
    expect(await match.execute({ text: 'aaa' })).toBe('matches');
    await expect(match.execute({ text: `${'a'.repeat(60)}!` })).rejects.toMatchObject({
      code: 'invalid-arguments',
      message: expect.stringContaining('must match pattern'),
    });
  });

  test('one that is left out or null takes its default', async () => {
    expect(await greet.execute({ name: 'you' })).toBe('hello you');
    expect(await greet.execute({ name: 'you', times: null as never, loud: null as never })).toBe('hello you');
    const plain = tool({
      name: 'plain',
      description: '',
      parameters: {
        type: 'object',
        properties: { n: { type: 'integer', default: 7 }, none: { type: ['string', 'null'], default: 'x' } },
      },
      execute: (input) => input,
    });
    expect(await plain.execute({ n: null, none: null })).toEqual({ n: 7, none: null });
  });

  test('types follow from the schema', () => {
    expectTypeOf(greet.execute).parameter(0).toEqualTypeOf<{
      name: string;
      times?: number | undefined;
      loud?: boolean | undefined;
    }>();
    expectTypeOf(greet.execute({ name: '' })).resolves.toEqualTypeOf<string>();
  });
});

describe('a call', () => {
  const run = (execute: (input: unknown, context: never) => unknown, more = {}) =>
    tool({ name: 'try', description: '', execute, ...more } as never).execute(
      {} as never,
    ) as Promise<unknown>;

  test('waits for promises', async () => {
    expect(await run(async () => [1])).toEqual([1]);
  });

  test('of an async iterable gives its values as progress and its last word as result', async () => {
    const steps: unknown[] = [];
    const count = tool({
      name: 'count',
      description: '',
      async *execute() {
        yield 1;
        yield 2;
      },
    });
    expect(await count.execute({}, { progress: (value) => steps.push(value) })).toBe(2);
    expect(steps).toEqual([1, 2]);
    expectTypeOf(count.execute({})).resolves.toEqualTypeOf<1 | 2>();
    const told = tool({
      name: 'told',
      description: '',
      async *execute() {
        yield 1;
        return 'all';
      },
    });
    expect(await told.execute({})).toBe('all');
  });

  test('tells the function of its end', async () => {
    const controller = new AbortController();
    const seen: unknown[] = [];
    const forever = tool({
      name: 'forever',
      description: '',
      execute: (_, { signal }) =>
        new Promise((_resolve) => signal.addEventListener('abort', () => seen.push('told'))),
    });
    const call = forever.execute({}, { signal: controller.signal });
    setImmediate(() => controller.abort());
    await expect(call).rejects.toMatchObject({ code: 'cancelled' });
    expect(seen).toEqual(['told']);
  });

  test('that takes too long is given up', async () => {
    await expect(run(() => new Promise(() => {}), { timeoutMs: 5 })).rejects.toMatchObject({
      code: 'timed-out',
    });
  });

  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  test.each([
    ['a cycle', cycle, 'circular'],
    ['a BigInt', { total: { count: 1n } }, 'total.count is a BigInt'],
    ['NaN', [1, Number.NaN], '1 is NaN'],
    ['too much', 'x'.repeat(100_000_000), 'larger than'],
  ])('that returns %s fails with invalid-result', async (_, value, message) => {
    await expect(run(() => value)).rejects.toMatchObject({
      code: 'invalid-result',
      message: expect.stringContaining(message),
    });
  });

  test.each([['text'], [undefined], [null], [{ a: 1 }], [new Error('broken')]])(
    'that throws %s fails with tool-failed',
    async (value) => {
      const failing = run(() => {
        throw value;
      });
      await expect(failing).rejects.toMatchObject({ code: 'tool-failed', details: { tool: 'try' } });
    },
  );

  test('whose result does not fit what it returns fails with invalid-result', async () => {
    await expect(run(() => 'x', { returns: z.number() })).rejects.toMatchObject({ code: 'invalid-result' });
    expect(await run(() => 1, { returns: { type: 'number' } })).toBe(1);
  });
});

describe('a definition is refused', () => {
  const base = { name: 'x', description: '', execute: () => null };
  test.each([
    ['with a name that models cannot write', { name: 'a b' }],
    ['whose parameters are no object', { parameters: z.string() }],
    [
      'whose schema is too large',
      { parameters: { type: 'object', properties: {}, description: 'x'.repeat(70_000) } },
    ],
    ['whose schema cannot be described', { parameters: z.object({ at: z.date() }) }],
  ])('%s', (_, more) => {
    expect(() => tool({ ...base, ...more } as never)).toThrow(
      expect.objectContaining({ code: 'invalid-tool' }),
    );
  });
});

describe('for OpenAI', () => {
  test('strict: all required, what may be absent takes null', () => {
    expect(openaiTool(greet, { strict: true })).toEqual({
      type: 'function',
      function: {
        name: 'greet',
        description: 'Greets somebody.',
        strict: true,
        parameters: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            times: expect.objectContaining({ type: ['integer', 'null'] }),
            loud: { type: ['boolean', 'null'] },
          },
          required: ['name', 'times', 'loud'],
          additionalProperties: false,
        },
      },
    });
  });

  test('a schema with free keys stays open', () => {
    const open = tool({
      name: 'open',
      description: '',
      parameters: z.object({ headers: z.record(z.string(), z.string()) }),
      execute: () => null,
    });
    expect(openaiTool(open, { strict: true }).function).toEqual({
      name: 'open',
      description: '',
      parameters: {
        type: 'object',
        properties: { headers: { type: 'object', additionalProperties: { type: 'string' } } },
        required: ['headers'],
      },
    });
  });
});
