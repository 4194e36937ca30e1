/** What cells use, for pages that ask again and again. */
import { expect, test } from 'vitest';
import { CellUses } from '../../src/service/cell-uses.js';

test('many pages cost each cell one look, a few at once, and a silent cell holds nobody up', async () => {
  let open = 0;
  let most = 0;
  const looks = new Map<string, number>();
  const uses = new CellUses((id) => ({
    output: async function* () {},
    async use() {
      looks.set(id, (looks.get(id) ?? 0) + 1);
      most = Math.max(most, ++open);
      if (id === 'silent') return new Promise(() => {});
      await new Promise((resolve) => setImmediate(resolve));
      open--;
      if (id === 'broken') throw new Error('it is going away');
      return { cpuMs: 5, memoryBytes: 1000 };
    },
  }));
  const ids = ['silent', 'broken', ...Array.from({ length: 100 }, (_, index) => `cell-${index}`)];
  await Promise.all([uses.read(ids), uses.read(ids), uses.read(ids)]);
  await expect.poll(async () => (await uses.read(ids)).size, { timeout: 30_000 }).toBe(100);
  expect((await uses.read(ids)).get('cell-7')).toMatchObject({ cpuMs: 5, memoryBytes: 1000 });
  expect(looks.get('cell-7')).toBe(1);
  expect(looks.get('silent')).toBe(1);
  expect(most).toBeLessThanOrEqual(8);
});

test('a cell that is not worked in has no figures', async () => {
  const uses = new CellUses(() => undefined);
  expect((await uses.read(['one'])).size).toBe(0);
});
