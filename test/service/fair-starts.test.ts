/** One tenant's burst of creations over HTTP, and another's single one. */
import { expect, test, vi } from 'vitest';
import { ServiceClient } from '../../src/client/index.js';
import { RequestShares } from '../../src/service/request-shares.js';
import { createServiceApp, type ServiceParts } from '../../src/service/service-app.js';
import { ServiceKeys } from '../../src/service/service-keys.js';
import { open, slowly, store } from './told-cells.js';

const operatorKey = 'an-operator-key-of-the-test';

test('a burst of 500 creations does not delay the single one of another tenant', async () => {
  const { slow, waiting } = slowly();
  const cells = await open({}, slow, { maxCells: 1000, maxCellsPerTenant: 500 });
  const keys = new ServiceKeys(store, { key: operatorKey, tenant: 'default' }, 100);
  const requests = new RequestShares({ maxRequestsPerTenant: 1024, requestsPerSecond: 2000, tenants: {} });
  const app = createServiceApp({ cells, keys, requests, log() {} } as unknown as ServiceParts, {});
  await app.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${(app.server.address() as { port: number }).port}`;
  const maker = keys.authenticate({ authorization: `Bearer ${operatorKey}` });
  const clientOf = async (tenant: string) =>
    new ServiceClient({ url, apiKey: (await keys.create(maker, { tenant, role: 'user' }, () => '')).key });
  const [many, one] = [await clientOf('many'), await clientOf('one')];
  const burst = Promise.all(Array.from({ length: 500 }, () => many.create()));
  await vi.waitFor(() => expect(cells.list('many')).toHaveLength(500), { timeout: 120_000 });
  // As many start as may, and none has ended.
  expect(waiting).toHaveLength(3);
  const single = one.create();
  await vi.waitFor(() => expect(waiting).toHaveLength(4), { timeout: 120_000 });
  waiting.pop()?.();
  expect((await single).state).toBe('running');
  expect(cells.list('many').every(({ state }) => state === 'starting')).toBe(true);
  expect(cells.waiting).toBe(497);
  await expect(many.create()).rejects.toMatchObject({
    code: 'rate-limited',
    details: { limit: 500, of: 'cells' },
  });
  const letGo = setInterval(() => {
    for (const go of waiting.splice(0)) go();
  }, 1);
  expect(new Set((await burst).map(({ id }) => id)).size).toBe(500);
  clearInterval(letGo);
  await app.close();
  await cells.close();
}, 300_000);
