import { expect, test } from 'vitest';
import { isDemand, satisfies } from '../../../src/backends/ubuntu-docker/version-demand.js';

test.each([
  ['3.11.2', '>=3.10', true],
  ['3.9.18', '>=3.10', false],
  ['3.10.0', '>=3.10', true],
  ['3.12.1', '>=3.10,<3.12', false],
  ['3.11.2', '3.11', true],
  ['3.1.0', '3.11', false],
  ['3.11.2', '==3.11', true],
  ['3.11.2', '!=3.11', false],
  ['4.0', '>3.99', true],
])('%s and %s: %s', (version, demand, answer) => {
  expect(satisfies(version, demand)).toBe(answer);
});

test('what is no demand is told from one', () => {
  expect(['>=3.10', '3', '>= 3.8, < 4'].map(isDemand)).toEqual([true, true, true]);
  expect(['', 'newest', '>=', '~=3', '3.x'].map(isDemand)).toEqual([false, false, false, false, false]);
});
