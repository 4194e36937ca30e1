/** The bytes that a tenant may hold in checkpoints, on runtimes that give away what they are told. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Checkpoint, Runtime } from '../../src/index.js';
import type { RuntimeCheckpoints } from '../../src/runtime/checkpoints/runtime-checkpoints.js';
import { keepHistory } from '../../src/runtime/checkpoints/runtime-history.js';
import { SavedCheckpoints } from '../../src/service/saved-checkpoints.js';

const directory = mkdtempSync(join(tmpdir(), 'workcell-saved-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function runtimeOf(id: string): Runtime {
  const runtime = { id, backend: 'sandbox', dropCheckpoint: async () => {} } as unknown as Runtime;
  keepHistory(runtime, () => ({ moveOut: async () => ({ links: [] }) }) as unknown as RuntimeCheckpoints);
  return runtime;
}

const made = (id: string, bytes: number) =>
  ({ id, runtimeId: id, createdAt: new Date(0), files: 1, bytes }) as Checkpoint;

test('those that are being kept count to the bytes of their tenant', async () => {
  let write = () => {};
  const written = new Promise<void>((resolve) => {
    write = resolve;
  });
  const store = { checkpoints: () => [], putCheckpoint: () => written, removeCheckpoint: () => {} };
  const limits = { maxCheckpointsPerTenant: 10, maxCheckpointBytesPerTenant: 100 };
  const saved = new SavedCheckpoints(store, directory, limits);
  const keep = (tenant: string, id: string, bytes: number) =>
    saved.keep(runtimeOf(id), made(id, bytes), { tenant, mustFit: true });
  const over = { code: 'rate-limited', details: { of: 'bytes of checkpoints' } };
  const first = keep('mine', 'one', 60);
  await expect(keep('mine', 'two', 60)).rejects.toMatchObject(over);
  const others = keep('theirs', 'three', 60);
  const fits = keep('mine', 'four', 40);
  write();
  expect(await Promise.all([first, others, fits])).toMatchObject([
    { bytes: 60 },
    { bytes: 60 },
    { bytes: 40 },
  ]);
  await expect(keep('mine', 'five', 1)).rejects.toMatchObject(over);
  await saved.remove('mine', 'one');
  expect(await keep('mine', 'six', 60)).toMatchObject({ bytes: 60 });
  await saved.close();
});
