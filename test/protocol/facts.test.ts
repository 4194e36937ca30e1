import { expect, test } from 'vitest';
import { describeFact, type Fact, isolationSchema, shortfall } from '../../src/protocol/index.js';

const memory: Fact = {
  code: 'memory',
  enforced: false,
  values: { limit: 1024, scope: 'process', by: 'watch' },
};
const seccomp: Fact = { code: 'seccomp', enforced: true, values: {} };

test('a sentence is made of a fact, and nothing else has to be known', () => {
  expect(describeFact(seccomp)).toBe('seccomp: A filter refuses system calls that a cell has no use for.');
  expect(describeFact(memory)).toMatch(/^memory: 1024 bytes, for each process.*is not counted\.$/);
});

test('facts from elsewhere are taken only with a known code and its own values', () => {
  const parse = (fact: unknown) => isolationSchema.safeParse({ tier: 'none', facts: [fact] }).success;
  expect(parse(memory)).toBe(true);
  expect(parse({ ...memory, code: 'memories' })).toBe(false);
  expect(parse({ ...memory, values: { limit: 'much' } })).toBe(false);
});

test('what is demanded and not enforced, or not reported, is a shortfall', () => {
  const isolation = { tier: 'namespace' as const, facts: [memory, seccomp] };
  expect(shortfall(isolation, { tier: 'namespace', facts: ['seccomp'] })).toBeUndefined();
  expect(shortfall(isolation, { tier: 'container' })).toContain('"container" is demanded');
  expect(shortfall(isolation, { facts: ['memory', 'user', 'seccomp'] })).toMatch(/: memory, user$/);
});
