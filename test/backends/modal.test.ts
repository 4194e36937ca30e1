/** Backend `modal` through the published client, against a stand-in that really runs what it is asked. */
import { ModalClient, Sandbox } from 'modal';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { loadBackend } from '../../src/backends/index.js';
import { attachRuntime, createRuntime, listCells } from '../../src/index.js';
import { ModalStandIn } from './vendors/modal-stand-in.js';
import { vendorSuite } from './vendors/vendor-suite.js';

const vendor = new ModalStandIn();
beforeAll(() => vendor.start());
afterAll(() => vendor.close());

vendorSuite(
  () => vendor,
  (key = vendor.key) => ({ backend: 'modal', tokenId: vendor.keyId, tokenSecret: key, apiUrl: vendor.url }),
  {
    pauses: false,
    // Every other message has its fields.
    strange: [{}],
    list: 'SandboxListV2',
    calls: { create: 'SandboxCreate', run: 'ExecStart', write: 'StdinWriteStream', end: 'Terminate' },
  },
);

test('every client is closed, and so is its way into the sandbox', async () => {
  const clients = vi.spyOn(ModalClient.prototype, 'close');
  const sandboxes = vi.spyOn(Sandbox.prototype, 'detach');
  const closed = () => [clients.mock.calls.length, sandboxes.mock.calls.length];
  const place = { tokenId: vendor.keyId, tokenSecret: vendor.key, apiUrl: vendor.url };
  const where = { backend: 'modal', config: false, ...place } as const;
  const kept = await createRuntime({ ...where, keepAlive: true });
  await kept.detach();
  expect(closed()).toEqual([1, 1]);
  await listCells(where);
  expect(closed()).toEqual([2, 1]);
  const { stats } = await loadBackend('modal');
  await stats?.(kept.id, place, {});
  expect(closed()).toEqual([3, 2]);
  await expect(stats?.('none', place, {})).rejects.toMatchObject({ code: 'cell-not-found' });
  expect(closed()).toEqual([4, 2]);
  await (await attachRuntime(kept.id, where)).close();
  expect(closed()).toEqual([5, 3]);
  vi.restoreAllMocks();
});
