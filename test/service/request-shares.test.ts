import { expect, test, vi } from 'vitest';
import { RequestShares } from '../../src/service/request-shares.js';
import type { CellRecord, KeyRecord } from '../../src/service/service-store.js';

const full = (limit: number) =>
  expect.objectContaining({ code: 'rate-limited', details: { limit, retryAfterMs: 1000 } });
const key = (tenant: string, id: string) => ({ tenant, id, role: 'user' as const });
const many = (count: number, shares: RequestShares, asker: ReturnType<typeof key>) =>
  Array.from({ length: count }, () => shares.enter(asker));

test('a key leaves requests to others of its tenant, and a tenant to other tenants', () => {
  const shares = new RequestShares({
    maxRequestsPerTenant: 8,
    requestsPerSecond: 1000,
    tenants: { large: { maxRequests: 16 } },
  });
  const [leave] = many(6, shares, key('a', 'first'));
  expect(() => shares.enter(key('a', 'first'))).toThrow(full(6));
  many(2, shares, key('a', 'second'));
  expect(() => shares.enter(key('a', 'second'))).toThrow(full(8));
  many(12, shares, key('large', 'third'));
  expect(() => shares.enter(key('large', 'third'))).toThrow(full(12));
  leave?.();
  leave?.();
  // What was refused has taken nothing.
  shares.enter(key('a', 'second'));
  expect(() => shares.enter(key('a', 'second'))).toThrow(full(8));
});

test('all tenants together leave connections to the operator', () => {
  const shares = new RequestShares({ maxRequestsPerTenant: 10_000, requestsPerSecond: 5000, tenants: {} });
  many(3840, shares, key('a', 'first'));
  expect(() => shares.enter(key('b', 'second'))).toThrow(full(3840));
  shares.enter({ tenant: 'default', id: 'operator', role: 'operator' })();
});

test('a key that works in many cells sends no faster for it', () => {
  const shares = new RequestShares({ maxRequestsPerTenant: 1000, requestsPerSecond: 1, tenants: {} });
  const cell = (id: string) => ({ tenant: 'a', id }) as CellRecord;
  const holder = key('a', 'holder') as KeyRecord;
  shares.enterCell(cell('one'), holder)();
  shares.enterCell(cell('two'), holder)();
  const tooFast = expect.objectContaining({ code: 'rate-limited' });
  expect(() => shares.enterCell(cell('three'), holder)).toThrow(tooFast);
  expect(() => shares.enter(holder)).toThrow(tooFast);
  // What the operator gave away counts by its cell, and so does what anybody may reach.
  for (const given of [{ ...holder, role: 'operator' as const }, undefined]) {
    const id = given === undefined ? 'open' : 'of the operator';
    for (let count = 0; count < 2; count++) shares.enterCell(cell(id), given)();
    expect(() => shares.enterCell(cell(id), given)).toThrow(tooFast);
  }
});

test('a key that sends too fast is told when to go on, and no other key waits for it', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const shares = new RequestShares({ maxRequestsPerTenant: 1000, requestsPerSecond: 10, tenants: {} });
    for (let count = 0; count < 20; count++) shares.enter(key('a', 'fast'))();
    expect(() => shares.enter(key('a', 'fast'))).toThrow(
      expect.objectContaining({
        code: 'rate-limited',
        details: { limit: 10, of: 'requests a second', retryAfterMs: 100 },
      }),
    );
    shares.enter(key('a', 'other'))();
    vi.advanceTimersByTime(100);
    shares.enter(key('a', 'fast'))();
    expect(() => shares.enter(key('a', 'fast'))).toThrow();
    // Keys that come after so many others begin anew, and none is remembered for ever.
    for (let count = 0; count < 10_000; count++) shares.enter(key('a', `key-${count}`))();
    shares.enter(key('a', 'fast'))();
    const operator = { tenant: 'default', id: 'operator', role: 'operator' as const };
    for (let count = 0; count < 100; count++) shares.enter(operator)();
  } finally {
    vi.useRealTimers();
  }
});
