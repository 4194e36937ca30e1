import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openSqliteServiceStore, type SqliteServiceStore } from '../../src/service/sqlite-service-store.js';
import { describeServiceStore } from './store-contract.js';

describeServiceStore(
  'in a file',
  (() => {
    const place = mkdtempSync(join(tmpdir(), 'service-store-'));
    afterAll(() => rmSync(place, { recursive: true, force: true }));
    return () => openSqliteServiceStore(join(place, 'service.db'));
  })(),
);

let directory: string;
let store: SqliteServiceStore;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'service-store-'));
  store = await openSqliteServiceStore(join(directory, 'service.db'));
});

afterEach(() => {
  vi.useRealTimers();
  store.close();
  rmSync(directory, { recursive: true, force: true });
});

test('keys of actions go a few at a time, more than come, and never all at once', () => {
  vi.useFakeTimers({ now: Date.parse('2030-01-01T00:00:00Z') });
  const database = new DatabaseSync(join(directory, 'service.db'), { readOnly: true });
  const rows = database.prepare('SELECT count(*) AS kept FROM actions WHERE cell = ?');
  const kept = (cell: string) => (rows.get(cell) as { kept: number }).kept;
  const begin = (cell: string, count: number) => {
    const already = kept(cell);
    for (let at = 0; at < count; at++) expect(store.beginAction(cell, `${already + at}`)).toBe(true);
  };
  begin('old', 1000);
  store.removeCell({ id: 'old', tenant: 'a' });
  expect(kept('old')).toBe(1000);
  vi.setSystemTime(Date.parse('2030-01-01T02:00:00Z'));
  begin('new', 100);
  expect(kept('old')).toBe(800);
  begin('new', 400);
  expect(kept('old')).toBe(0);
  expect(kept('new')).toBe(500);
  expect(store.beginAction('new', '0')).toBe(false);
  database.close();
});
