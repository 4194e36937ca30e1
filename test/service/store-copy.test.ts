/** What others see of a copy of the store while it is being made. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openSqliteServiceStore } from '../../src/service/sqlite-service-store.js';
import { copyStore } from '../../src/service/store-copy.js';

let meanwhile = () => {};
vi.mock('../../src/runtime/events/sqlite/copy-database.js', async (original) => {
  const { copyDatabase } =
    await original<typeof import('../../src/runtime/events/sqlite/copy-database.js')>();
  return {
    copyDatabase: async (...given: Parameters<typeof copyDatabase>) => {
      meanwhile();
      await copyDatabase(...given);
    },
  };
});

const folder = mkdtempSync(join(tmpdir(), 'workcell-store-copy-'));
const config = join(folder, 'service.toml');
const target = join(folder, 'copy.db');

beforeAll(async () => {
  writeFileSync(config, `[service]\nstore = "sqlite:${join(folder, 'service.db')}"\n`, { mode: 0o600 });
  (await openSqliteServiceStore(join(folder, 'service.db'))).close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const left = () => readdirSync(folder).filter((name) => name.includes('copy.db'));

test('a copy has its name when it is whole, so that nobody starts from what a killed one left', async () => {
  let early = true;
  meanwhile = () => {
    early = existsSync(target);
  };
  await copyStore(config, target);
  expect(early).toBe(false);
  expect(statSync(target)).toMatchObject({ nlink: 1, size: expect.toSatisfy((size: number) => size > 0) });
  expect(left()).toEqual(['copy.db']);
  rmSync(target);
});

test('a file that comes while the copy is made stays as it is', async () => {
  meanwhile = () => writeFileSync(target, 'mine');
  await expect(copyStore(config, target)).rejects.toMatchObject({ code: 'already-exists' });
  expect(readFileSync(target, 'utf8')).toBe('mine');
  expect(left()).toEqual(['copy.db']);
});
