import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, expect, test } from 'vitest';
import type { WorkcellEvent } from '../../../src/protocol/index.js';
import { migrations } from '../../../src/runtime/events/sqlite/sqlite-schema.js';
import { openSqlite } from '../../../src/runtime/events/sqlite/sqlite-store.js';
import { describeStore } from './store-contract.js';

const directory = mkdtempSync(join(tmpdir(), 'workcell-sqlite-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const file = (name: string) => join(directory, name);
const action = (id: number, command: string): WorkcellEvent => ({
  kind: 'action',
  id,
  at: id,
  runtimeId: 'r',
  source: 'agent',
  action: { action: 'run', command },
});

describeStore('sqlite', {
  open: () => openSqlite(file('contract.db'), 'process'),
  lasting: true,
  sized: true,
});

test('only its owner can read the file and its companions', async () => {
  const store = await openSqlite(file('new/mode.db'), 'process');
  await store.append([action(1, 'a')]);
  expect(statSync(file('new')).mode & 0o777).toBe(0o700);
  for (const ending of ['', '-wal', '-shm'])
    expect(statSync(file(`new/mode.db${ending}`)).mode & 0o777).toBe(0o600);
  await store.close();
});

test('a long text that many events carry is kept once', async () => {
  const store = await openSqlite(file('once.db'), 'process');
  const long = 'x'.repeat(1_000_000);
  for (let id = 1; id <= 50; id++) await store.append([action(id, long)]);
  await store.close();
  expect(statSync(file('once.db')).size).toBeLessThan(1_500_000);
});

test('an event that JSON cannot hold keeps no other from the store', async () => {
  const store = await openSqlite(file('refused.db'), 'process');
  const refused = { ...action(1, 'a'), action: { action: 'run', command: 1n } } as WorkcellEvent;
  await store.append([refused, action(2, 'b')]);
  expect(await store.read('r', { after: 0, limit: 10 })).toMatchObject([
    {
      id: 1,
      kind: 'error',
      error: { code: 'internal', message: expect.stringMatching(/^The action .* BigInt/) },
    },
    { id: 2, kind: 'action', action: { command: 'b' } },
  ]);
  await store.close();
});

test('space that compaction frees goes back to the system', async () => {
  const store = await openSqlite(file('shrink.db'), 'process');
  for (let id = 1; id <= 50; id++) await store.append([action(id, `${id}`.repeat(100_000))]);
  while (await store.compact({ olderThan: 50 })) await new Promise((resolve) => setImmediate(resolve));
  await store.close();
  expect(statSync(file('shrink.db')).size).toBeLessThan(500_000);
});

test('an append reads nothing of a large event that is kept beside it', async () => {
  const store = await openSqlite(file('large.db'), 'process');
  // Many short texts, none of which is long enough for the store to keep it apart.
  const large = Array.from({ length: 30_000 }, (_, index) => `${index}`.padEnd(500, 'x'));
  const event = (runtimeId: string, id: number): WorkcellEvent => ({ ...action(id, 'a'), runtimeId });
  await store.append([
    { ...event('b', 1), action: { action: 'tool', arguments: large } } as unknown as WorkcellEvent,
  ]);
  const before = bytesRead();
  for (let id = 1; id <= 10; id++) for (const runtime of ['a', 'c']) await store.append([event(runtime, id)]);
  expect(bytesRead() - before).toBeLessThan(5_000_000);
  await store.close();
});

test('events of an older schema are kept', async () => {
  const database = new DatabaseSync(file('older.db'));
  for (const step of migrations.slice(0, 2)) database.exec(step);
  database.exec(`
    PRAGMA user_version = 2;
    INSERT INTO events VALUES ('r', 1, 1, 'action', 'agent', NULL, '{"action":"run","command":"a"}', NULL);
    INSERT INTO notes VALUES ('n', 'r', 'confirmation', 1, ${Date.now() + 60_000}, '{}', NULL)`);
  database.close();
  const store = await openSqlite(file('older.db'), 'process');
  expect(await store.read('r', { after: 0, limit: 10 })).toEqual([action(1, 'a')]);
  expect(await store.mailbox?.list('confirmation')).toMatchObject([{ id: 'n', runtimeId: 'r' }]);
  expect(await store.page({ limit: 10 })).toMatchObject([{ runtimeId: 'r', beganAt: 1, lastId: 1 }]);
  await store.close();
});

test('a runtime whose events an older version removed is not listed', async () => {
  const store = await openSqlite(file('compacted.db'), 'process');
  await store.append([action(1, 'a'), { ...action(1, 'b'), runtimeId: 'other' }]);
  const database = new DatabaseSync(file('compacted.db'));
  database.exec("DELETE FROM events WHERE runtime = 'r'");
  database.close();
  expect(await store.page({ limit: 1 })).toMatchObject([{ runtimeId: 'other', firstId: 1 }]);
  expect(await store.page({ limit: 10, ids: ['r'] })).toEqual([]);
  await store.close();
});

test('ages are looked at once in a while', async () => {
  const store = await openSqlite(file('rest.db'), 'process');
  await store.append([action(1, 'a')]);
  while (await store.compact({ restMs: 60_000 }));
  await store.compact({ olderThan: 10, restMs: 60_000 });
  expect(await store.last('r')).toBe(1);
  while (await store.compact({ olderThan: 10 }));
  expect(await store.last('r')).toBe(0);
  await store.close();
});

test('a schema of a newer version is left alone', async () => {
  const database = new DatabaseSync(file('newer.db'));
  database.exec('PRAGMA user_version = 99');
  database.close();
  await expect(openSqlite(file('newer.db'), 'process')).rejects.toMatchObject({
    code: 'store-unavailable',
    message: expect.stringContaining('newer Workcell (schema 99'),
  });
});

test('a file that is no database, or cannot be made, is told with its name', async () => {
  await expect(openSqlite(join(import.meta.filename, 'events.db'), 'process')).rejects.toMatchObject({
    code: 'store-unavailable',
    message: expect.stringContaining('sqlite.test.ts/events.db'),
  });
  await expect(openSqlite(import.meta.filename, 'process')).rejects.toMatchObject({
    code: 'store-unavailable',
  });
});

/** What this process has read from files so far. */
function bytesRead(): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
}
