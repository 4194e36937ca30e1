/** Backend `e2b` through the published client, against our own service that speaks its protocol. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadBackend } from '../../src/backends/index.js';
import { attachRuntime, createRuntime } from '../../src/index.js';
import { refusal } from '../../src/testing/contract/given.js';
import { E2bStandIn } from './vendors/e2b-stand-in.js';
import { vendorSuite } from './vendors/vendor-suite.js';

const vendor = new E2bStandIn();
beforeAll(() => vendor.start());
afterAll(() => vendor.close());

const place = (apiKey = vendor.key) =>
  ({ backend: 'e2b', apiKey, apiUrl: vendor.url, sandboxUrl: vendor.url }) as const;

vendorSuite(() => vendor, place, {
  pauses: true,
  list: '/v2/sandboxes',
  calls: { create: '/sandboxes', run: '/process.Process/Start', write: '/files', end: '/sandboxes/' },
  // One vendor shows how checkpoints travel; they take the same way with the others.
  contract: ['checkpoints.rewind'],
});

test('a template that the vendor does not have', async () => {
  await refusal(createRuntime({ ...place(), config: false, template: 'missing' }), 'not-found');
  expect(await vendor.left()).toEqual([]);
});

test('a kept cell whose shells print without an end is not attached to', async () => {
  const kept = await createRuntime({ ...place(), config: false, keepAlive: true });
  // Login shells read it, and those of the vendor are some.
  expect((await kept.run('echo yes >/workspace/.profile')).exitCode).toBe(0);
  await kept.detach();
  await refusal(attachRuntime(kept.id, { ...place(), config: false }), 'backend-unavailable');
  for (const id of await vendor.left()) await vendor.end(id);
});

test('a look neither prolongs nor shortens the life of a kept cell', async () => {
  const kept = await createRuntime({ ...place(), config: false, keepAlive: true });
  await kept.detach();
  const [id = ''] = await vendor.left();
  const endAt = async () => {
    const listed = await vendor.ask('GET', `/sandboxes/${id}`);
    return ((await listed.json()) as { endAt: string }).endAt;
  };
  await vendor.ask('POST', `/sandboxes/${id}/timeout`, { timeout: 600 });
  const before = await endAt();
  const { backend: _, ...where } = place();
  const { stats } = await loadBackend('e2b');
  expect(await stats?.(kept.id, where, {})).toMatchObject({ observation: 'stats' });
  expect(await endAt()).toBe(before);
  await vendor.end(id);
});
