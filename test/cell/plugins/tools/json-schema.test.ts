import { describe, expect, test } from 'vitest';
import { compile, type JsonSchema } from '../../../../src/cell/plugins/tools/json-schema.js';
import { compilePattern } from '../../../../src/cell/plugins/tools/schema/pattern.js';
import { Work } from '../../../../src/cell/plugins/tools/schema/work.js';
import { Random } from '../../../fuzz/random.js';

const check = (schema: JsonSchema, value: unknown) => compile(schema, 'It', false)(value);
const fits = (schema: JsonSchema, value: unknown) => check(schema, value).issues === undefined;

describe('each keyword takes what it allows and refuses what it does not', () => {
  const named = { properties: { a: true }, patternProperties: { '^x': { type: 'number' } } };
  test.each<[JsonSchema, unknown, unknown]>([
    [{ type: 'integer' }, 3, 3.5],
    [{ type: ['string', 'null'] }, null, 3],
    [{ type: 'string', nullable: true }, null, 3],
    [{ type: 'object' }, {}, []],
    [{ enum: ['a', { x: [1] }] }, { x: [1] }, { x: [2] }],
    [{ const: { a: 1, b: 2 } }, { b: 2, a: 1 }, { a: 1 }],
    [{ minimum: 2, exclusiveMaximum: 4 }, 2, 4],
    [{ maximum: 2, exclusiveMinimum: 0 }, 2, 0],
    [{ multipleOf: 0.5 }, 1.5, 1.2],
    [{ multipleOf: 0.01 }, 19.99, 19.995],
    [{ multipleOf: 0.1 }, 0.3, 0.35],
    [{ multipleOf: 1e-7 }, -1.2e-6, 1.25e-7],
    [{ multipleOf: 0.5 }, 1e308, 0.3],
    [{ multipleOf: 7 }, 21, 7.000000000000001],
    [{ minLength: 2, maxLength: 2 }, '😀😀', '😀'],
    [{ pattern: '^[a-z]+-\\d{2,4}$' }, 'ab-123', 'ab-12345'],
    [{ minItems: 1, maxItems: 2 }, [1], [1, 2, 3]],
    [
      { uniqueItems: true },
      [{ a: 1, b: 2 }, { a: 1 }],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
    [{ prefixItems: [{ type: 'string' }], items: { type: 'number' } }, ['a', 1], ['a', 'b']],
    [{ items: [{ type: 'string' }], additionalItems: false }, ['a'], ['a', 'b']],
    [{ contains: { const: 1 }, maxContains: 1 }, [1, 2], [1, 1]],
    [{ required: ['a'] }, { a: 0 }, { b: 0 }],
    [{ dependentRequired: { a: ['b'] } }, { b: 1 }, { a: 1 }],
    [{ dependencies: { a: ['b'], c: { required: ['d'] } } }, { c: 1, d: 1 }, { c: 1 }],
    [{ dependentSchemas: { a: { required: ['b'] } } }, { a: 1, b: 1 }, { a: 1 }],
    [{ minProperties: 1, maxProperties: 1 }, { a: 1 }, { a: 1, b: 1 }],
    [{ propertyNames: { maxLength: 1 } }, { a: 1 }, { ab: 1 }],
    [{ ...named, additionalProperties: false }, { a: 1, x1: 2 }, { b: 1 }],
    [{ ...named }, { x1: 2 }, { x1: 'a' }],
    [{ allOf: [{ type: 'number' }, { minimum: 2 }] }, 2, 1],
    [{ anyOf: [{ type: 'string' }, { minimum: 2 }] }, 'a', 1],
    [{ oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, 4, 6],
    [{ not: { type: 'string' } }, 1, 'a'],
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    [{ if: { type: 'string' }, then: { minLength: 2 }, else: { minimum: 2 } }, 'ab', 1],
    [{ $defs: { 'a b': { type: 'string' } }, $ref: '#/$defs/a%20b' }, 'x', 1],
    [
      { $id: 'https://example.com/a/s.json', $defs: { n: named }, items: { $ref: 's.json#/$defs/n' } },
      [{}],
      [{ x: '' }],
    ],
    [
      { $id: 'urn:example:s', $defs: { n: named }, items: { $ref: 'urn:example:s#/$defs/n' } },
      [{}],
      [{ x: '' }],
    ],
    [
      { $id: 's', properties: { a: { $ref: 's' } }, required: ['b'] },
      { b: 1, a: { b: 1 } },
      { b: 1, a: {} },
    ],
    [{ $defs: { n: { $anchor: 'n', type: 'number' } }, items: { $ref: '#n' } }, [1], ['a']],
    [
      { properties: { next: { $ref: '#' } }, required: ['v'] },
      { v: 1, next: { v: 2 } },
      { v: 1, next: {} },
    ],
    [{ allOf: [{ properties: { a: true } }], unevaluatedProperties: false }, { a: 1 }, { a: 1, b: 1 }],
    [{ prefixItems: [true], unevaluatedItems: false }, [1], [1, 2]],
  ])('%j', (schema, good, bad) => {
    expect(check(schema, good)).toEqual({ value: good });
    expect(fits(schema, bad)).toBe(false);
  });

  test('what is absent takes its default, also in the choice that fits', () => {
    const one = {
      required: ['kind', 'n'],
      properties: { kind: { const: 1 }, n: { default: { deep: [1] } } },
    };
    const two = { required: ['kind'], properties: { kind: { const: 2 }, m: { default: 2 } } };
    const schema = { anyOf: [two, one], properties: { also: { default: null } } };
    expect(check(schema, { kind: 1 })).toEqual({ value: { kind: 1, n: { deep: [1] }, also: null } });
    expect(check(schema, { kind: 2 })).toEqual({ value: { kind: 2, m: 2, also: null } });
  });

  describe('a value is checked as it was sent, and takes the defaults that fit', () => {
    const ten = { properties: { limit: { default: 10 } } };
    const required = (name: string, value: unknown) => ({
      properties: { [name]: { const: value, default: value } },
      required: [name],
    });
    test.each<[string, JsonSchema, unknown, unknown]>([
      [
        'a default that does not fit itself',
        {
          properties: { q: { type: 'string' }, after: { type: 'string', default: null }, n: { default: 1 } },
        },
        { q: 'x' },
        { q: 'x', n: 1 },
      ],
      [
        'a default that another choice asks for',
        {
          oneOf: [{ ...ten, required: ['offset'] }, { required: ['limit'] }],
          properties: { n: { default: 1 } },
        },
        { offset: 5 },
        { offset: 5, n: 1 },
      ],
      ['a default of what must not be', { not: required('a', 1) }, {}, {}],
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      ['a default of a condition', { if: required('a', 1), then: false }, {}, {}],
      ['choices with defaults', { oneOf: [required('a', 1), required('a', 2)] }, {}, undefined],
      ['a list that lacks what it must contain', { contains: required('a', 1) }, [{}], undefined],
      ['any of, beside no further names', { anyOf: [ten], additionalProperties: false }, {}, {}],
      ['all of, beside no further names', { allOf: [ten], additionalProperties: false }, {}, {}],
      ['a name that asks for others', { ...ten, dependentRequired: { limit: ['offset'] } }, {}, {}],
      ['what is required and has a default', { ...ten, required: ['limit'] }, {}, { limit: 10 }],
      [
        'what is required and has none that fits',
        { properties: { a: { type: 'string', default: 1 } }, required: ['a'] },
        {},
        undefined,
      ],
      [
        'defaults within a default',
        { properties: { a: { default: {}, properties: { b: { default: 2 } } } } },
        {},
        { a: { b: 2 } },
      ],
      ['a default without end', { properties: { a: { $ref: '#', default: {} } } }, {}, {}],
      [
        'the name of a prototype',
        JSON.parse('{"properties":{"__proto__":{"default":1}}}'),
        {},
        JSON.parse('{"__proto__":1}'),
      ],
    ])('%s', (_, schema, value, filled) => {
      const checked = check(schema, value);
      expect('value' in checked ? checked.value : undefined).toEqual(filled);
      // The other side gets what this one filled in, and checks it again.
      if (filled !== undefined) expect(check(schema, filled)).toEqual({ value: filled });
    });
  });

  test('what is wrong is said with its place, in a number that is bounded', () => {
    const schema = { properties: { list: { items: { type: 'integer' } } }, required: ['name'] };
    expect(check(schema, { list: [1, 'x'] })).toEqual({
      issues: [
        { path: ['list', '1'], message: 'must be integer' },
        { path: ['name'], message: 'is missing' },
      ],
    });
    const list = Array.from({ length: 5000 }, String);
    expect(check(schema, { list, name: '' }).issues?.length).toBe(100);
  });
});

describe('a schema is refused', () => {
  test.each<[string, JsonSchema, string]>([
    ['with a type that there is not', { type: 'text' }, '#/type must be one or several of'],
    ['with a keyword that holds something else', { properties: [] }, '#/properties must be'],
    ['with no schema where one belongs', { properties: { a: 3 } }, '#/properties/a is neither'],
    ['that refers to elsewhere', { $ref: 'http://example.com/s' }, 'leads nowhere'],
    ['that refers to nothing', { $ref: '#/$defs/none' }, 'leads nowhere'],
    ['with a pattern that is none', { pattern: '(a' }, 'lacks a ")"'],
    ['with a pattern that remembers', { pattern: '(a)\\1' }, 'refers back to a group'],
    ['with a pattern that repeats beyond bounds', { pattern: '((a{1000}){1000}){1000}' }, 'parts'],
    [
      'with many patterns that repeat',
      { allOf: Array.from({ length: 5 }, (_, n) => ({ pattern: `${n}a{6000}` })) },
      'parts',
    ],
    [
      'with a pattern of many levels',
      { pattern: `${'(a|'.repeat(900)}${')'.repeat(900)}` },
      'groups in each other',
    ],
    ['with a long pattern', { pattern: 'a'.repeat(5000) }, 'more than 4096 characters'],
    ['of many levels', JSON.parse(`${'{"not":'.repeat(5000)}{}${'}'.repeat(5000)}`), 'more than 48 levels'],
  ])('%s', (_, schema, reason) => {
    expect(() => compile(schema, 'The schema of tool "it"', true)).toThrow(
      expect.objectContaining({ code: 'invalid-tool', message: expect.stringContaining(reason) }),
    );
  });
});

describe('a check ends after its steps', () => {
  const twice = { anyOf: [{ $ref: '#/$defs/d' }, { $ref: '#/$defs/d' }] };
  const doubling = { $defs: { d: { properties: { d: twice }, required: ['end'] } }, $ref: '#/$defs/d' };
  let deep: unknown = {};
  for (let level = 0; level < 40; level++) deep = { d: deep, end: 0 };
  const wide = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`p${index}`, { default: 1 }]));
  const thousand = Array.from({ length: 1000 }, () => ({}));
  let levels: unknown = {};
  for (let level = 0; level < 20_000; level++) levels = [levels];
  test.each<[string, JsonSchema, unknown]>([
    ['where choices double', doubling, deep],
    ['where a schema refers to itself', { $ref: '#' }, 1],
    ['where all of it is the same again', { allOf: [{ $ref: '#' }, { $ref: '#' }] }, {}],
    [
      'where a default lacks what has it',
      { properties: { a: { $ref: '#', default: {} } }, required: ['a'] },
      {},
    ],
    ['where each value gets many defaults', { items: { properties: wide } }, thousand],
    ['where a pattern looks ahead from everywhere', { pattern: '(?=.*a.*b.*c)x' }, 'y'.repeat(20_000)],
    ['where the value is deep', {}, levels],
  ])('%s', (_, schema, value) => {
    const { issues } = compile(schema, 'It', true)(value);
    expect(issues?.[0]?.message).toMatch(/too many steps|nests too deep|levels/);
  });

  test('a pattern that tries all ways elsewhere takes as many steps as the text is long', () => {
    expect(fits({ pattern: '^(a+)+$' }, `${'a'.repeat(5000)}!`)).toBe(false);
    expect(fits({ pattern: '^(a|aa)+$' }, 'a'.repeat(5000))).toBe(true);
  });

  test('honest values have room', () => {
    const point = {
      type: 'object',
      properties: { x: { type: 'number' }, y: { type: 'number' } },
      required: ['x'],
    };
    const points = Array.from({ length: 20_000 }, (_, x) => ({ x, y: 0 }));
    expect(fits({ type: 'array', items: point }, points)).toBe(true);
  });
});

test('patterns match what those of JavaScript match', () => {
  const random = new Random(1);
  const atoms = [
    'a',
    'b',
    '.',
    '\\d',
    '\\w',
    '\\s',
    '[ab]',
    '[^a-c]',
    '[\\w-]',
    '\\b',
    '\\B',
    '^',
    '$',
    '\\.',
  ];
  atoms.push(
    '\\u0061',
    '\\x62',
    'é',
    '😀',
    '\\p{L}',
    '\\P{Lu}',
    '[^\\s,]',
    '[a-c\\dz\\p{Lu}]',
    '(?=a)',
    '(?!b)',
    '(?<=a)',
    '(?<!b)',
  );
  const write = (depth: number): string =>
    Array.from({ length: random.between(1, 3) }, () => {
      if (depth === 0 || random.chance(0.6)) return random.pick(atoms) + quantifier(0.2);
      const choice = random.chance(0.4) ? `|${write(depth - 1)}` : '';
      return `${random.pick(['(', '(?:', '(?=', '(?!', '(?<='])}${write(depth - 1)}${choice})${quantifier(0.4)}`;
    }).join('');
  const quantifier = (probability: number) =>
    random.chance(probability) ? random.pick(['*', '+', '?', '{2}', '{1,3}', '{2,}', '*?']) : '';
  const texts = () =>
    Array.from({ length: random.int(7) }, () => random.pick([...'abc1 -é_,\n', '😀', 'B'])).join('');
  let compared = 0;
  for (let round = 0; round < 1500; round++) {
    const source = write(3);
    let native: RegExp;
    try {
      native = new RegExp(source, 'u');
    } catch {
      continue;
    }
    const own = compilePattern(source, { left: 20_000 });
    for (const text of [texts(), texts(), texts()])
      expect({ source, text, matches: own(text, new Work(1e6)) }).toEqual({
        source,
        text,
        matches: native.test(text),
      });
    compared++;
  }
  expect(compared).toBeGreaterThan(300);
});
