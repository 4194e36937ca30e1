/** The check counts whatever a schema makes it do: look, compare, copy and write. */
import { describe, expect, test } from 'vitest';
import { compile, type JsonSchema } from '../../../../src/cell/plugins/tools/json-schema.js';
import { withoutNulls } from '../../../../src/cell/plugins/tools/optional.js';
import { findIssues } from '../../../../src/cell/plugins/tools/schema/check.js';
import { SchemaDocument } from '../../../../src/cell/plugins/tools/schema/document.js';
import { Evaluated } from '../../../../src/cell/plugins/tools/schema/evaluated.js';
import { Work } from '../../../../src/cell/plugins/tools/schema/work.js';

class CountedWork extends Work {
  spent = 0;

  constructor() {
    super(Number.POSITIVE_INFINITY);
  }

  override spend(steps = 1): void {
    this.spent += steps;
  }
}

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const names = many(4000, (index) => `n${index}`);
const wide = Object.fromEntries(names.map((name) => [name, 1]));
const long = 'x'.repeat(40_000);

test.each<[string, JsonSchema, unknown, number]>([
  ['names that others require', { dependentRequired: { a: names } }, { a: 1 }, 1000],
  ['names that are required', { required: names }, {}, 1000],
  ['the length of a name that is required', { required: [long] }, {}, 1000],
  ['the length of a name in a constant', { const: { [long]: 1 } }, {}, 1000],
  ['the length of texts that are compared', { enum: [long] }, `${long.slice(1)}y`, 1000],
  ['types', { type: names.map(() => 'string') }, 1, 500],
  ['names that are counted', { maxProperties: 5000 }, wide, 8000],
  ['names of the rest', { additionalProperties: true, unevaluatedProperties: false }, wide, 12_000],
  ['items of the rest', { items: true, unevaluatedItems: false }, names, 5000],
  ['the length of a reference', { $defs: { [long]: true }, $ref: `#/$defs/${long}` }, 1, 1000],
  ['the length of a message', { dependentRequired: { a: [long] } }, { a: 1 }, 2000],
  [
    'patterns',
    { patternProperties: Object.fromEntries(names.slice(0, 1000).map((name) => [name, true])) },
    { a: 1 },
    2500,
  ],
])('a check counts %s', (_, schema, value, steps) => {
  const work = new CountedWork();
  findIssues(new SchemaDocument(schema), value, work);
  expect(work.spent).toBeGreaterThanOrEqual(steps);
});

test.each<[string, JsonSchema]>([
  ['values', { enum: names }],
  ['types', { type: names.map(() => 'string') }],
])('so does the search for null among %s', (_, a) => {
  const work = new CountedWork();
  withoutNulls({ a: null }, { properties: { a } }, work);
  expect(work.spent).toBeGreaterThanOrEqual(1000);
});

test('what was looked at moves from schema to schema without a copy, and is counted where two are joined', () => {
  const work = new CountedWork();
  const [first, second, whole] = [new Evaluated(), new Evaluated(), new Evaluated()];
  for (const name of names) {
    first.names.add(name);
    second.names.add(`${name}'`);
  }
  whole.take(first, work);
  expect(work.spent).toBe(0);
  whole.take(second, work);
  expect(work.spent).toBe(names.length);
  expect(whole.names.size).toBe(2 * names.length);
});

test('messages are made for as many issues as are told', () => {
  let made = 0;
  const value = Object.defineProperty({}, 'a', { enumerable: true, get: () => ++made });
  const schema = { $defs: { one: { enum: [value] } }, allOf: many(500, () => ({ $ref: '#/$defs/one' })) };
  expect(findIssues(new SchemaDocument(schema), 1, new CountedWork()).issues.length).toBe(100);
  expect(made).toBe(100);
});

test('values that are no texts are shown as JSON', () => {
  const { issues } = compile({ enum: ['a', { toString: 1 }, [[2]]] }, 'It', true)(1);
  expect(issues?.[0]?.message).toBe('must be equal to one of the allowed values: a, {"toString":1}, [[2]]');
});

test('a schema names so many properties of characters that each can be made ready', () => {
  const allOf = many(300, (index) => ({ pattern: `${index}\\p{L}` }));
  expect(() => compile({ allOf }, 'It', true)).toThrow('names too many properties of characters');
  expect(compile({ allOf: allOf.slice(0, 100) }, 'It', true)('').issues?.length).toBe(100);
});

describe('a check ends where a schema multiplies', () => {
  const fan = (leaf: JsonSchema): JsonSchema => ({
    $defs: { leaf, inner: { allOf: many(80, () => ({ $ref: '#/$defs/leaf' })) } },
    allOf: many(80, () => ({ $ref: '#/$defs/inner' })),
  });
  test.each<[string, JsonSchema, unknown]>([
    ['names that others require', { dependentRequired: { a: names } }, { a: 1 }],
    ['a long name', { const: { [long]: 1 } }, {}],
    ['a list of values', { enum: names }, 1],
    ['a list of types', { type: names.map(() => 'string') }, 1],
    ['a long text', { enum: [long] }, `${long.slice(1)}y`],
  ])('%s', (_, leaf, value) => {
    expect(compile(fan(leaf), 'It', true)(value).issues?.[0]?.message).toContain('too many steps');
  });

  test('the search for null', () => {
    const schema = { items: { properties: { a: { enum: names } } } };
    const { issues } = compile(schema, 'It', true)(many(2000, () => ({ a: null })));
    expect(issues?.[0]?.message).toContain('too many steps');
  });
});
