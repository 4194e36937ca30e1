import { expect, test } from 'vitest';
import { CellQuotas } from '../../src/service/cell-quotas.js';

test('a machine without free memory starts no cell, and says when to ask again', () => {
  let free = 1024 ** 3;
  const limits = { maxCells: 10, maxCellsPerTenant: 10, startsAtOnce: 1, tenants: {} };
  const quotas = new CellQuotas(limits, () => free);
  quotas.check('a', { own: 0, all: 0 });
  free = 64 * 1024 ** 2;
  expect(() => quotas.check('a', { own: 0, all: 0 })).toThrow(
    expect.objectContaining({ code: 'rate-limited', details: { retryAfterMs: 5000 } }),
  );
});
