import { expect, test } from 'vitest';
import { CellQuotas } from '../../src/service/cell-quotas.js';

const template = { name: 'small', declared: { memoryBytes: 100, cpus: 0.5 } };

test('a machine without free memory starts no cell, and says when to ask again', () => {
  let free = 1024 ** 3;
  const limits = { maxCells: 10, maxCellsPerTenant: 10, startsAtOnce: 1, tenants: {} };
  const quotas = new CellQuotas(limits, () => free);
  const none = { own: [], all: 0 };
  quotas.check('a', template, none);
  free = 64 * 1024 ** 2;
  expect(() => quotas.check('a', template, none)).toThrow(
    expect.objectContaining({ code: 'rate-limited', details: { retryAfterMs: 5000 } }),
  );
});

test('the cells of a tenant have no more memory and processors together than it may', () => {
  const tenants = { a: { maxMemoryBytes: 350, maxCpus: 1 }, b: { maxMemoryBytes: 350 } };
  const quotas = new CellQuotas(
    { maxCells: 100, maxCellsPerTenant: 100, startsAtOnce: 1, tenants },
    () => 2 ** 40,
  );
  const check = (tenant: string, cells: number, one = template) =>
    quotas.check(tenant, one, { own: Array.from({ length: cells }, () => one.declared), all: cells });
  check('a', 1);
  expect(() => check('a', 2)).toThrow(
    expect.objectContaining({
      code: 'rate-limited',
      details: { limit: 1, used: 1, wanted: 0.5, of: 'cpus' },
    }),
  );
  check('b', 2);
  expect(() => check('b', 3)).toThrow(
    expect.objectContaining({
      code: 'rate-limited',
      details: { limit: 350, used: 300, wanted: 100, of: 'memoryBytes' },
    }),
  );
  check('other', 50);
  // A cell without a limit of its own could take everything.
  const unlimited = { name: 'open', declared: {} as typeof template.declared };
  expect(() => check('a', 0, unlimited)).toThrow(expect.objectContaining({ code: 'denied' }));
  check('other', 0, unlimited);
});

test('fractions of processors add up to the limit, and not past it', () => {
  const tenants = { a: { maxCpus: 0.3 } };
  const limits = { maxCells: 100, maxCellsPerTenant: 100, startsAtOnce: 1, tenants };
  const quotas = new CellQuotas(limits, () => 2 ** 40);
  const tenth = { name: 'tenth', declared: { cpus: 0.1 } };
  const check = (cells: number) =>
    quotas.check('a', tenth, { own: Array.from({ length: cells }, () => tenth.declared), all: cells });
  check(2);
  expect(() => check(3)).toThrow(expect.objectContaining({ code: 'rate-limited' }));
});

test('a cell that has no limit, or that nobody knows one of, leaves a limited tenant room for no other', () => {
  const tenants = { a: { maxMemoryBytes: 350 } };
  const limits = { maxCells: 100, maxCellsPerTenant: 100, startsAtOnce: 1, tenants };
  const quotas = new CellQuotas(limits, () => 2 ** 40);
  for (const unknown of [undefined, {}, { cpus: 1 }])
    expect(() => quotas.check('a', template, { own: [unknown], all: 1 })).toThrow(
      expect.objectContaining({
        code: 'rate-limited',
        details: { limit: 350, unlimited: 1, of: 'memoryBytes' },
      }),
    );
});

test('a tenant that starts cells too fast is told when it may start the next', () => {
  const tenants = { a: { startsPerMinute: 2 } };
  const quotas = new CellQuotas(
    { maxCells: 100, maxCellsPerTenant: 100, startsAtOnce: 1, tenants },
    () => 2 ** 40,
  );
  const check = () => quotas.check('a', template, { own: [], all: 0 });
  check();
  check();
  expect(check).toThrow(
    expect.objectContaining({
      code: 'rate-limited',
      details: {
        limit: 2,
        of: 'starts a minute',
        retryAfterMs: expect.toSatisfy((ms: number) => ms > 29_000 && ms <= 30_000),
      },
    }),
  );
});
