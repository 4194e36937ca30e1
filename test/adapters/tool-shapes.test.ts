/** Every tool that we show a model, in every form, has the length and shape that providers of models take. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { anthropicTools, callTool, openaiTools } from '../../src/adapters/schemas.js';
import { listTools } from '../../src/compat/mcp/mcp-tools.js';
import { createRuntime, type Runtime, tool } from '../../src/index.js';

/** One of these in one schema, and OpenAI or Google refuse the whole request. */
const refused = [
  ...['oneOf', 'const', 'propertyNames', 'patternProperties', 'exclusiveMinimum', 'exclusiveMaximum'],
  ...[
    'allOf',
    'not',
    'if',
    'then',
    'else',
    'dependentRequired',
    'dependentSchemas',
    '$schema',
    '$id',
    '$ref',
  ],
];

const point = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('at'), x: z.number().positive() }),
  z.object({ kind: z.literal('named'), oneOf: z.string() }),
]);
const place = tool({
  name: 'place',
  description: `Places something. ${'It has much to say. '.repeat(100)}`,
  parameters: z.object({
    point,
    labels: z.record(z.string(), z.string()).optional(),
    count: z.int().positive().lt(5).default(1),
  }),
  execute: ({ point: { kind }, count }) => `${kind} ${count}`,
});

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ backend: 'cli' });
  runtime.add(place);
});
afterAll(() => runtime.close());

interface Shown {
  readonly name: string;
  readonly description?: string | undefined;
  readonly schema: object;
}

const forms: Record<string, () => Shown[]> = {
  OpenAI: () => ofOpenai(false),
  'OpenAI, strict': () => ofOpenai(true),
  Anthropic: () =>
    anthropicTools(runtime, { actions: true }).map(({ input_schema, ...about }) => ({
      ...about,
      schema: input_schema,
    })),
  MCP: () =>
    listTools(runtime, { actions: true }).map(({ inputSchema, ...about }) => ({
      ...about,
      schema: inputSchema,
    })),
};

function ofOpenai(strict: boolean): Shown[] {
  return openaiTools(runtime, { actions: true, strict }).map(({ function: { parameters, ...about } }) => ({
    ...about,
    schema: parameters,
  }));
}

describe.each(Object.entries(forms))('for %s', (form, shown) => {
  test('names and descriptions have the length that models take', () => {
    const tools = shown();
    expect(tools.length).toBeGreaterThan(30);
    for (const { name, description = '' } of tools) {
      expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(description).not.toBe('');
      if (form.startsWith('OpenAI') || name !== 'place') expect(description.length).toBeLessThanOrEqual(1024);
    }
  });

  test('schemas are objects in words that no provider refuses', () => {
    for (const { name, schema } of shown()) {
      expect({ name, ...schema }).toMatchObject({ name, type: 'object' });
      for (const keyword of ['anyOf', 'enum']) expect(schema).not.toHaveProperty(keyword);
      expect([name, keywordsOf(schema).filter((keyword) => refused.includes(keyword))]).toEqual([name, []]);
    }
  });
});

test('the words in their place mean the same, and the tool still checks what they cannot say', async () => {
  const [shown] = openaiTools(runtime, { actions: false });
  expect(shown?.function.parameters).toMatchObject({
    properties: {
      count: { minimum: 1, maximum: 4, default: 1 },
      point: {
        anyOf: [{ properties: { kind: { enum: ['at'] } } }, { properties: { oneOf: { type: 'string' } } }],
      },
    },
  });
  const call = (args: object) => callTool(runtime, { name: 'place', arguments: { ...args } });
  expect((await call({ point: { kind: 'at', x: 1 } })).text).toContain('at 1');
  expect(await call({ point: { kind: 'at', x: 0 } })).toMatchObject({ isError: true });
});

/** Keywords of a schema and of those in it, without the names of properties. */
function keywordsOf(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(keywordsOf);
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (keyword === 'properties') return Object.values(value).flatMap(keywordsOf);
    return [keyword, ...(['default', 'enum'].includes(keyword) ? [] : keywordsOf(value))];
  });
}
