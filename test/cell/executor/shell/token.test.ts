import { expect, test } from 'vitest';
import { newToken } from '../../../../src/cell/executor/shell/token.js';

test('tokens are all different, of one length and without a character that needs quoting', () => {
  const tokens = Array.from({ length: 2000 }, newToken);
  expect(new Set(tokens).size).toBe(tokens.length);
  for (const token of tokens) expect(token).toMatch(/^[\w-]{16}$/);
  // No run of bytes comes from memory that was never filled, or was taken already.
  expect(tokens.filter((token) => token.includes('AAAAAAAA'))).toHaveLength(0);
});
