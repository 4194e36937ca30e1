/** Cells that start ahead, and how many start at all. */
import { expect, test, vi } from 'vitest';
import type { RuntimeSource } from '../../src/service/runtime-source.js';
import { asked, failing, open, slowly, source, store, tenant, there } from './told-cells.js';

test('a tenant that made a cell finds the next one ready; one that died ahead is given to nobody', async () => {
  const cells = await open({ pool: 1 });
  await cells.create(tenant, asked());
  await vi.waitFor(() => expect(there.size).toBe(2));
  const [, spare = ''] = [...there.keys()];
  await vi.waitFor(() => expect(cells.spare).toBe(1));
  expect(cells.list(tenant)).toHaveLength(1);
  await expect(cells.use(tenant, spare)).rejects.toMatchObject({ code: 'cell-not-found' });
  // Another tenant gets none of it, and one with variables a fresh one.
  expect((await cells.create('b', asked())).record.id).not.toBe(spare);
  expect((await cells.create(tenant, asked({ env: { A: 'b' } }))).record.id).not.toBe(spare);
  const { record } = await cells.create(tenant, asked({ name: 'mine', labels: { a: 'b' } }));
  expect(record).toMatchObject({ id: spare, state: 'running', name: 'mine', labels: { a: 'b' } });
  await vi.waitFor(() => expect(there.size).toBe(6));
  const [dead = ''] = [...there.keys()].filter((id) => cells.byId(id) === undefined);
  there.get(dead)?.lose();
  await vi.waitFor(() => expect(there.has(dead)).toBe(false));
  expect((await cells.create(tenant, asked())).record.id).not.toBe(dead);
  await cells.close();
  // Those that somebody has go on, and no other is left.
  expect([...there.keys()].toSorted()).toEqual(
    cells
      .list(undefined)
      .map(({ id }) => id)
      .toSorted(),
  );
});

test('a cell whose turn comes when memory is short does not start', async () => {
  const { slow, waiting } = slowly();
  let free = 1024 ** 3;
  const cells = await open({}, slow, { freeBytes: () => free });
  const made = Array.from({ length: 4 }, () => cells.create(tenant, asked()));
  await vi.waitFor(() => expect(waiting).toHaveLength(3));
  free = 0;
  for (const go of waiting) go();
  await expect(made[3]).rejects.toMatchObject({ code: 'rate-limited', details: { retryAfterMs: 5000 } });
  await Promise.all(made.slice(0, 3));
  expect(there.size).toBe(3);
  expect(cells.list(tenant)).toHaveLength(3);
});

test('no cell is started ahead when memory is short', async () => {
  let free = 1024 ** 3;
  let starts = 0;
  const tight: RuntimeSource = {
    ...source,
    async create(...given) {
      free = 0;
      starts++;
      return source.create(...given);
    },
  };
  const cells = await open({ pool: 1 }, tight, { freeBytes: () => free });
  await cells.create(tenant, asked());
  await cells.close();
  expect(starts).toBe(1);
});

test('spare cells count, and give way to one that somebody asks for', async () => {
  const most: number[] = [];
  const counting: RuntimeSource = {
    ...source,
    async create(...given) {
      const runtime = await source.create(...given);
      most.push(there.size);
      return runtime;
    },
  };
  const cells = await open({ pool: 2 }, counting, { maxCells: 3 });
  await cells.create(tenant, asked());
  await vi.waitFor(() => expect(cells.spare).toBe(2));
  await cells.create('b', asked());
  await cells.create('b', asked());
  expect(cells.spare).toBe(0);
  await expect(cells.create('b', asked())).rejects.toMatchObject({ code: 'rate-limited' });
  expect(Math.max(...most)).toBe(3);
  expect([...there.keys()].toSorted()).toEqual(
    cells
      .list(undefined)
      .map(({ id }) => id)
      .toSorted(),
  );
});

test('spare cells stay within what their tenant may have, and give way within it', async () => {
  const declared = { memoryBytes: 100, cpus: 1 };
  const tenants = { [tenant]: { maxMemoryBytes: 300 }, b: { maxCells: 2 } };
  const cells = await open({ pool: 5, declared }, source, {
    tenants,
    templates: [{ name: 'large', declared: { memoryBytes: 200 } }],
  });
  await cells.create(tenant, asked());
  await vi.waitFor(() => expect(cells.spare).toBe(2));
  expect(there.size).toBe(3);
  await cells.create(tenant, asked({ template: 'large' }));
  expect(there.size).toBe(2);
  await expect(cells.create(tenant, asked())).rejects.toMatchObject({ code: 'rate-limited' });
  await cells.create('b', asked());
  await vi.waitFor(() => expect(cells.spare).toBe(1));
  await cells.create('b', asked());
  expect(cells.spare).toBe(0);
  expect(there.size).toBe(4);
  await cells.close();
});

test('cells of earlier records count as what their template declares now', async () => {
  const tenants = { [tenant]: { maxMemoryBytes: 200 } };
  const before = await open();
  const { record } = await before.create(tenant, asked());
  await before.close();
  expect(record).not.toHaveProperty('declared.memoryBytes');
  const after = await open({ declared: { memoryBytes: 150 } }, source, { tenants });
  await expect(after.create(tenant, asked())).rejects.toMatchObject({
    details: { limit: 200, used: 150, wanted: 150 },
  });
  await after.close();
  const without = await open({ name: 'other' }, source, {
    tenants,
    templates: [{ name: 'small', declared: { memoryBytes: 1 } }],
  });
  await expect(without.create(tenant, asked({ template: 'small' }))).rejects.toMatchObject({
    details: { limit: 200, unlimited: 1 },
  });
  await without.close();
});

test('a spare cell that still starts gives way, too', async () => {
  const { slow, waiting } = slowly();
  const cells = await open({ pool: 1 }, slow, { maxCells: 2 });
  const first = cells.create(tenant, asked());
  await vi.waitFor(() => expect(waiting).toHaveLength(1));
  waiting.shift()?.();
  await first;
  await vi.waitFor(() => expect(waiting).toHaveLength(1));
  const second = cells.create('b', asked());
  // The spare one starts, and is ended before the other one may start.
  waiting.shift()?.();
  await vi.waitFor(() => expect(waiting).toHaveLength(1));
  expect(there.size).toBe(1);
  waiting.shift()?.();
  const { record } = await second;
  expect(there.size).toBe(2);
  expect(there.has(record.id)).toBe(true);
});

test('cells that a killed process started ahead are ended by the next one', async () => {
  const before = await open({ pool: 1 });
  await before.create(tenant, asked());
  await vi.waitFor(() => expect(there.size).toBe(2));
  const after = await open();
  expect(there.size).toBe(1);
  expect(after.list(tenant)).toHaveLength(1);
});

test('a spare cell that cannot be ended counts until it is, and is tried again', async () => {
  vi.useFakeTimers();
  const cells = await open({ pool: 1 }, source, { maxCells: 2 });
  await cells.create(tenant, asked());
  await vi.waitFor(() => expect(cells.spare).toBe(1));
  failing.close = true;
  await cells.create(tenant, asked({ env: { A: 'b' } }));
  await vi.waitFor(() => expect(there.size).toBe(3));
  failing.close = false;
  // It takes a place that no other spare cell gets.
  expect(cells.spare).toBe(0);
  expect(store.cells()).toHaveLength(3);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(there.size).toBe(2);
  expect(store.cells().map(({ state }) => state)).toEqual(['running', 'running']);
  await cells.close();
});
