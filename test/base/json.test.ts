import { expect, test } from 'vitest';
import { type JsonError, parseJson } from '../../src/base/json.js';

const problemOf = (text: string, options = {}) => {
  try {
    parseJson(Buffer.from(text), options);
    return undefined;
  } catch (error) {
    return (error as JsonError).problem;
  }
};

test.each([
  '{}',
  '[]',
  'null',
  '"a:b,{c}"',
  '{"a":{"b":[{"c":1},{"c":2}]},"b":"\\"x\\":1","__proto":1}',
  '{"constructor":"me","a:b":{"":1}}',
  ' {"\\u0061" : 1 , "b" : [ ] } ',
])('%s is read as JSON.parse reads it', (text) => {
  expect(parseJson(text)).toEqual(JSON.parse(text));
});

test.each([
  ['{"a":1,"a":2}', 'duplicate-key'],
  ['{"a":1,"\\u0061":2}', 'duplicate-key'],
  ['[{"x":{"command":"ls","command":"rm -rf /"}}]', 'duplicate-key'],
  ['{"__proto__":{"a":1}}', 'forbidden-key'],
  ['{"constructor":{"prototype":{}}}', 'forbidden-key'],
  ['{"a":', 'not-json'],
  ['', 'not-json'],
  [`${'['.repeat(65)}${']'.repeat(65)}`, 'too-deep'],
])('%s is refused', (text, problem) => {
  expect(problemOf(text)).toBe(problem);
});

test('a million levels are counted before anything is built from them', () => {
  expect(problemOf('['.repeat(1_000_000))).toBe('too-deep');
  expect(problemOf('[[1]]', { depth: 1 })).toBe('too-deep');
});
