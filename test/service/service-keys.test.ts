import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ServiceKeys } from '../../src/service/service-keys.js';
import { openServiceStore, type ServiceStore } from '../../src/service/service-store.js';

const operator = { key: 'an-operator-key-of-the-test', tenant: 'default' };
const day = 86_400_000;

let directory: string;
let store: ServiceStore;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  directory = mkdtempSync(join(tmpdir(), 'service-keys-'));
  store = await openServiceStore(join(directory, 'service.db'));
});
afterEach(() => {
  vi.useRealTimers();
  store.close();
  rmSync(directory, { recursive: true, force: true });
});

test('expired keys are shown for a day, and leave memory and store', () => {
  const keys = new ServiceKeys(store, operator);
  const maker = keys.authenticate({ authorization: `Bearer ${operator.key}` });
  const make = (fields: object = {}) => keys.create(maker, { role: 'user', ...fields }, () => '');
  const expiresAt = new Date(Date.now() + 60_000).toISOString();
  const [brief, lasting] = [make({ expiresAt }), make()];
  const shown = () => keys.list(maker).map(({ id }) => id);
  vi.setSystemTime(Date.now() + day);
  expect(() => keys.authenticate({ 'x-api-key': brief.key })).toThrow(
    expect.objectContaining({ code: 'unauthorized' }),
  );
  const second = make({ expiresAt: new Date(Date.now() + 60_000).toISOString() });
  expect(shown()).toEqual([brief.id, lasting.id, second.id]);
  vi.setSystemTime(Date.now() + 120_000);
  const third = make();
  expect(shown()).toEqual([lasting.id, second.id, third.id]);
  expect(store.keys().map(({ record }) => record.id)).toEqual(expect.not.arrayContaining([brief.id]));
  vi.setSystemTime(Date.now() + 2 * day);
  // The next process finds one that has expired since.
  new ServiceKeys(store, operator);
  expect(new Set(store.keys().map(({ record }) => record.id))).toEqual(new Set([lasting.id, third.id]));
  expect(keys.authenticate({ 'x-api-key': lasting.key }).id).toBe(lasting.id);
});
