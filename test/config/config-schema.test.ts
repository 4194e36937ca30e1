import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fromText, toOptionNames } from '../../src/config/config-schema.js';
import { redact } from '../../src/config/redact.js';
import { nearest } from '../../src/protocol/nearest.js';

test.each([
  ['true', z.boolean().optional(), true],
  ['1', z.boolean().default(false), true],
  ['false', z.boolean(), false],
  ['0', z.boolean(), false],
  ['yes', z.boolean(), 'yes'],
  ['1.5', z.number(), 1.5],
  [' ', z.number(), ' '],
  ['12', z.string(), '12'],
  ['[1]', z.array(z.number()), [1]],
  ['{"a":1}', z.record(z.string(), z.number()), { a: 1 }],
  ['{', z.record(z.string(), z.number()), '{'],
])('the text %j is read as its setting wants it', (text, schema, expected) => {
  expect(fromText(text, schema)).toEqual(expected);
});

test('keys of a file become the names of options, and keys of free tables stay', () => {
  const schema = z.strictObject({
    baseImage: z.string(),
    limits: z.strictObject({ memoryBytes: z.number() }).optional(),
    buildArgs: z.record(z.string(), z.string()),
  });
  const table = {
    base_image: 'x',
    limits: { memory_bytes: 1 },
    build_args: { some_name: 'y' },
    other_key: 1,
  };
  expect(toOptionNames(table, schema)).toEqual({
    baseImage: 'x',
    limits: { memoryBytes: 1 },
    buildArgs: { some_name: 'y' },
    other_key: 1,
  });
});

describe('redact', () => {
  test.each([
    ['docker.api_key', 'abc', '[hidden]'],
    ['docker.token', 'abc', '[hidden]'],
    ['backends.cli.env', { A: 'abc' }, { A: '[hidden]' }],
    ['docker.registry', { url: 'u', password: 'abc' }, { url: 'u', password: '[hidden]' }],
    ['backend', 'cli', 'cli'],
    ['sandbox.timeout', undefined, undefined],
  ])('%s', (key, value, expected) => expect(redact(key, value)).toEqual(expected));
});

test('nearest compares a word as long as a file with nothing that is short', () => {
  let compared = 0;
  const candidate = Object.assign(Object('backend') as string, {
    toLowerCase: () => {
      compared++;
      return 'backend';
    },
  });
  expect(nearest('a'.repeat(900_000), [candidate])).toBeUndefined();
  expect(compared).toBe(0);
});

test('nearest offers what is close and nothing else', () => {
  expect(nearest('dokcer', ['cli', 'docker'])).toBe('docker');
  expect(nearest('kubernetes', ['cli', 'docker'])).toBeUndefined();
});
