/** A signed address names no sandbox, so whoever invents one has the tokens of all sandboxes compared. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Sandbox } from '../../../src/compat/e2b/e2b-sandbox.js';
import { findSigned } from '../../../src/compat/e2b/sandbox-access.js';

const sandboxes = Array.from({ length: 1000 }, (_, index) => {
  const tokens = Array.from({ length: 32 }, (_, key) => [
    `key-${key}`,
    { access: `access-${index}-${key}`, traffic: '' },
  ]);
  return { facts: { secure: index % 2 === 1 }, tokens: new Map(tokens as never) } as unknown as Sandbox;
});

const signed = (token: string) => {
  const digest = createHash('sha256').update(`file:read::${token}`).digest('base64');
  return { path: 'file', signature: `v1_${digest.replace(/=+$/, '')}` };
};

test('finds the sandbox whose token signed, for that operation and only where a token is needed', async () => {
  expect(await findSigned(sandboxes, signed('access-7-31'), 'read')).toBe(sandboxes[7]);
  expect(await findSigned(sandboxes, signed('access-7-31'), 'write')).toBeUndefined();
  expect(await findSigned(sandboxes, signed('access-8-31'), 'read')).toBeUndefined();
});

test('lets others have their turn before it has compared them all', async () => {
  const search = findSigned(sandboxes, signed('invented'), 'read').then(() => 'searched');
  const turn = new Promise((resolve) => setImmediate(resolve, 'another turn'));
  expect(await Promise.race([search, turn])).toBe('another turn');
  expect(await search).toBe('searched');
});
