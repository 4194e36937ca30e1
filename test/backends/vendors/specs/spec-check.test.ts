/** The extracts refuse what their vendors' specifications refuse, so that a stand-in cannot drift from them. */
import { expect, test } from 'vitest';
import { Spec } from './spec-check.js';

const daytona = new Spec('daytona-api');
const create = 'POST /sandbox';

test('an operation is found by its path, and one with a name before one with a variable', () => {
  expect(daytona.operationOf('POST', '/sandbox')).toBe(create);
  expect(daytona.operationOf('GET', '/sandbox/abc')).toBe('GET /sandbox/{sandboxIdOrName}');
  expect(daytona.operationOf('PUT', '/sandbox')).toBeUndefined();
  const e2b = new Spec('e2b');
  expect(e2b.operationOf('GET', '/sandboxes/metrics')).toBe('GET /sandboxes/metrics');
});

test('a request has no field and no word in its query that the vendor does not take', () => {
  const fits = { labels: { a: 'b' }, autoStopInterval: 5 };
  expect(daytona.problemOfRequest(create, [], fits)).toBeUndefined();
  expect(daytona.problemOfRequest(create, [], { ...fits, keepFor: 5 })).toContain('keepFor');
  expect(daytona.problemOfRequest(create, [], { ...fits, autoStopInterval: 'five' })).toContain('autoStop');
  expect(daytona.problemOfRequest(create, ['force'], fits)).toContain('force');
});

test('an answer has the fields, the types and the status of the specification', () => {
  const preview = 'GET /sandbox/{sandboxIdOrName}/ports/{port}/preview-url';
  const fits = { sandboxId: 'a', url: 'http://x', token: 't' };
  expect(daytona.problemOfAnswer(preview, 200, fits)).toBeUndefined();
  for (const wrong of [{ ...fits, token: 7 }, { url: 'http://x' }, { ...fits, more: 1 }, [], null])
    expect(daytona.problemOfAnswer(preview, 200, wrong)).toContain(preview);
  expect(daytona.problemOfAnswer(preview, 201, fits)).toContain('it never answers with 201');
  expect(daytona.problemOfAnswer(preview, 404, { message: 'gone' })).toBeUndefined();
});
