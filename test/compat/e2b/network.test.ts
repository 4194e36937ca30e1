/** New network rules for a sandbox that has some: within what its template allows, and in force at once. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changeNetwork, networkOfFork } from '../../../src/compat/e2b/control/sandbox-network.js';
import { E2bError } from '../../../src/compat/e2b/e2b-errors.js';
import type { StoredFacts } from '../../../src/compat/e2b/e2b-sandbox.js';
import { createRuntime, type Runtime } from '../../../src/index.js';
import type { Template } from '../../../src/service/templates.js';

let runtime: Runtime;
beforeAll(async () => {
  const network = { allow: ['first.example.com'] };
  runtime = await createRuntime({ backend: 'sandbox', config: false, network });
});
afterAll(() => runtime.close());

const templateWith = (network: 'open' | 'none') =>
  ({ name: 'mine', options: () => ({ network }) }) as unknown as Template;
const change = (asked: Parameters<typeof changeNetwork>[1], network: 'open' | 'none' = 'open') =>
  changeNetwork(runtime, asked, templateWith(network), 'tenant');

test('names and addresses replace what was allowed', async () => {
  await change({ allowOut: ['example.com', '192.0.2.0/24'], denyOut: ['0.0.0.0/0'] });
  expect(runtime.network.rules()).toMatchObject({ allow: ['example.com', '192.0.2.0/24'], deny: [] });
});

test('denied addresses leave the rest open', async () => {
  await change({ denyOut: ['192.0.2.0/24'] });
  expect(runtime.network.rules()).toMatchObject({
    allow: ['**', '0.0.0.0/0', '::/0'],
    deny: ['192.0.2.0/24'],
  });
});

test('no internet is no address, also where the template has no network to open', async () => {
  await change({ allow_internet_access: false }, 'none');
  expect(runtime.network.rules()).toMatchObject({ allow: [] });
  await expect(change({ denyOut: ['192.0.2.0/24'] }, 'none')).rejects.toBeInstanceOf(E2bError);
  expect(runtime.network.rules()).toMatchObject({ allow: [] });
});

test('what the gateway cannot do is refused, and changes nothing', async () => {
  await change({ allowOut: ['example.com'], denyOut: ['0.0.0.0/0'] });
  await expect(change({ allowOut: ['other.example.com'] })).rejects.toThrow('denyOut');
  await expect(change({ rules: {} })).rejects.toThrow('egressProxy');
  expect(runtime.network.rules()).toMatchObject({ allow: ['example.com'] });
});

test('a fork reaches what its source does, and no more', () => {
  const ofFork = (facts: object) =>
    networkOfFork(templateWith('open'), { template: 'mine', ...facts } as StoredFacts, 'tenant');
  expect(ofFork({ allowInternetAccess: false, network: {} })).toBe('none');
  expect(ofFork({ allowInternetAccess: false, network: { denyOut: ['192.0.2.0/24'] } })).toBe('none');
  const network = { allowOut: ['example.com'], denyOut: ['0.0.0.0/0'] };
  expect(ofFork({ allowInternetAccess: true, network })).toMatchObject({ allow: ['example.com'] });
  expect(ofFork({ allowInternetAccess: true })).toBeUndefined();
});
