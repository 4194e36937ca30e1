/** What every store of a service does. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CellRecord, KeyRecord, ServiceStore } from '../../src/service/service-store.js';

export function recordOf(id: string, more: Partial<CellRecord> = {}): CellRecord {
  return {
    id,
    tenant: 'a',
    template: 'default',
    state: 'starting',
    labels: { text: "it's" },
    createdAt: 1000,
    usedAt: 1000,
    onIdle: 'pause',
    ref: { backend: 'sandbox', place: {}, id },
    ...more,
  };
}

/** `open`: the same store each time, as the next process finds it. */
export function describeServiceStore(name: string, open: () => Promise<ServiceStore>): void {
  describe(name, () => {
    let store: ServiceStore;
    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store.close());

    const again = async () => {
      await store.close();
      store = await open();
    };
    const unique = () => randomBytes(6).toString('hex');
    const find = async (id: string) => (await store.cells()).find((record) => record.id === id);

    test('a cell, the request for it and what it used are there for the next process', async () => {
      const [id, key, tenant] = [unique(), unique(), unique()];
      const usage = [{ day: '2030-01-01', cellMs: 5, cells: 1 }];
      await store.putCell(recordOf(id, { tenant, name: 'mine' }), { key, fingerprint: 'f' }, usage);
      await store.putCell(recordOf(id, { tenant, name: 'mine', state: 'running' }), undefined, usage);
      await again();
      expect(await find(id)).toEqual(recordOf(id, { tenant, name: 'mine', state: 'running' }));
      expect(await store.request(tenant, key)).toEqual({ fingerprint: 'f', cell: id });
      expect(await store.request('other', key)).toBeUndefined();
      const rows = await store.usage('2030-01-01', '2030-01-01');
      expect(rows.filter((row) => row.tenant === tenant)).toEqual([
        { tenant, day: '2030-01-01', cellMs: 10, cells: 2 },
      ]);
      expect(await store.usage('2031-01-01', '2031-01-02')).toEqual([]);
    });

    test('a request may make another cell when its first one is gone', async () => {
      const [first, second, key] = [unique(), unique(), unique()];
      await store.putCell(recordOf(first), { key, fingerprint: 'f' });
      await store.removeCell(recordOf(first));
      expect(await find(first)).toBeUndefined();
      await store.putCell(recordOf(second), { key, fingerprint: 'g' });
      expect(await store.request('a', key)).toEqual({ fingerprint: 'g', cell: second });
    });

    test('a name is free again when its cell is gone, and ended cells come in pages', async () => {
      const tenant = unique();
      const ids = [unique(), unique(), unique()];
      for (const [index, id] of ids.entries()) {
        const record = recordOf(id, { tenant, name: 'same', createdAt: 1000 + index });
        await store.putCell(record);
        await store.endCell(record, [{ day: '2032-01-01', cellMs: 1, cells: 0 }]);
      }
      expect(await store.endedOf(ids[0] ?? '')).toBe(tenant);
      expect(await store.endedOf(unique())).toBeUndefined();
      const first = await store.ended(tenant, { limit: 2 });
      expect(first).toEqual([
        { id: ids[2], at: 1002 },
        { id: ids[1], at: 1001 },
      ]);
      expect(await store.ended(tenant, { limit: 2, before: first[1] })).toEqual([{ id: ids[0], at: 1000 }]);
      const [row] = (await store.usage('2032-01-01', '2032-01-01')).filter((one) => one.tenant === tenant);
      expect(row?.cellMs).toBe(3);
    });

    test('an action begins once, also for the next process', async () => {
      const cell = unique();
      expect(await store.beginAction(cell, 'one')).toBe(true);
      expect(await store.beginAction(cell, 'one')).toBe(false);
      await again();
      expect(await store.beginAction(cell, 'one')).toBe(false);
      expect(await store.beginAction(cell, 'two')).toBe(true);
    });

    test('keys stay until they are removed, and the secret for good', async () => {
      const record: KeyRecord = { id: unique(), tenant: 'a', role: 'user', createdAt: 1 };
      await store.putKey(record, `hash of ${record.id}`);
      const secret = await store.secret();
      await again();
      expect(await store.secret()).toBe(secret);
      expect(await store.keys()).toContainEqual({ record, hash: `hash of ${record.id}` });
      await store.removeKey(record.id);
      expect((await store.keys()).map(({ record: { id } }) => id)).not.toContain(record.id);
      expect(await store.answers()).toBe(true);
    });
  });
}
