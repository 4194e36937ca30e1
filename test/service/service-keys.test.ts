import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ServiceKeys } from '../../src/service/service-keys.js';
import { openSqliteServiceStore, type SqliteServiceStore } from '../../src/service/sqlite-service-store.js';

const operator = { key: 'an-operator-key-of-the-test', tenant: 'default' };
const day = 86_400_000;

let directory: string;
let store: SqliteServiceStore;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  directory = mkdtempSync(join(tmpdir(), 'service-keys-'));
  store = await openSqliteServiceStore(join(directory, 'service.db'));
});
afterEach(() => {
  vi.useRealTimers();
  store.close();
  rmSync(directory, { recursive: true, force: true });
});

test('expired keys are shown for a day, and leave memory and store', async () => {
  const keys = new ServiceKeys(store, operator, 1000);
  const maker = keys.authenticate({ authorization: `Bearer ${operator.key}` });
  const make = (fields: object = {}) => keys.create(maker, { role: 'user', ...fields }, () => '');
  const expiresAt = new Date(Date.now() + 60_000).toISOString();
  const [brief, lasting] = [await make({ expiresAt }), await make()];
  const shown = () => new Set(keys.list(maker, { limit: 100 }).keys.map(({ id }) => id));
  vi.setSystemTime(Date.now() + day);
  expect(() => keys.authenticate({ 'x-api-key': brief.key })).toThrow(
    expect.objectContaining({ code: 'unauthorized' }),
  );
  const second = await make({ expiresAt: new Date(Date.now() + 60_000).toISOString() });
  expect(shown()).toEqual(new Set([brief.id, lasting.id, second.id]));
  vi.setSystemTime(Date.now() + 120_000);
  const third = await make();
  expect(shown()).toEqual(new Set([lasting.id, second.id, third.id]));
  expect(store.keys().map(({ record }) => record.id)).toEqual(expect.not.arrayContaining([brief.id]));
  vi.setSystemTime(Date.now() + 2 * day);
  // The next process finds one that has expired since.
  await new ServiceKeys(store, operator, 1000).load();
  expect(new Set(store.keys().map(({ record }) => record.id))).toEqual(new Set([lasting.id, third.id]));
  expect(keys.authenticate({ 'x-api-key': lasting.key }).id).toBe(lasting.id);
});

test('a tenant has no more keys than it may, and lists them page by page', async () => {
  const keys = new ServiceKeys(store, operator, 5);
  const maker = keys.authenticate({ authorization: `Bearer ${operator.key}` });
  const make = (tenant: string, fields: object = {}) =>
    keys.create(maker, { tenant, role: 'admin', ...fields }, () => '');
  const expiresAt = new Date(Date.now() + 60_000).toISOString();
  const wanted = [make('a'), make('a'), make('a'), make('a'), make('a', { expiresAt })];
  // One more at the same time gets no place of theirs.
  const beyond = make('a');
  const made = await Promise.all(wanted);
  const [first] = made.map(({ key }) => keys.authenticate({ 'x-api-key': key }));
  const full = expect.objectContaining({ code: 'rate-limited', details: { limit: 5, of: 'keys' } });
  await expect(beyond).rejects.toEqual(full);
  await expect(make('a')).rejects.toEqual(full);
  await expect(keys.create(first ?? maker, { role: 'user' }, () => '')).rejects.toEqual(full);
  // The limit is each tenant's own.
  await make('b');
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = keys.list(first ?? maker, { limit: 2, cursor });
    expect(page.keys.length).toBeLessThanOrEqual(2);
    seen.push(...page.keys.map(({ id }) => id));
    cursor = page.next;
  } while (cursor !== undefined);
  expect(seen.toSorted()).toEqual(made.map(({ id }) => id).toSorted());
  // An expired one is still shown, and takes nobody's place; neither does one that is gone.
  vi.setSystemTime(Date.now() + 120_000);
  await keys.remove(maker, (await make('a')).id);
  await make('a');
  await expect(make('a')).rejects.toEqual(full);
});
