import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { openSqlite } from '../../../src/runtime/events/sqlite/sqlite-store.js';

// The real one, counted.
vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>();
  return { ...real, utimesSync: vi.fn(real.utimesSync) };
});

const directory = fs.mkdtempSync(join(tmpdir(), 'workcell-announce-'));

afterEach(() => {
  vi.useRealTimers();
  fs.rmSync(directory, { recursive: true, force: true });
});

test('many events wake the watchers of the file once more, and those before an end do, too', async () => {
  const file = join(directory, 'events.db');
  const store = await openSqlite(file, 'process');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let id = 0;
  const append = () =>
    store.append([
      {
        id: ++id,
        at: 0,
        runtimeId: 'one',
        source: 'environment',
        kind: 'status',
        status: { status: 'READY', level: 'info', message: '' },
      },
    ]);
  for (let count = 0; count < 100; count++) append();
  // A command that ended in this moment has its answer first.
  expect(fs.utimesSync).toHaveBeenCalledTimes(0);
  vi.runAllTimers();
  expect(fs.utimesSync).toHaveBeenCalledTimes(1);
  append();
  vi.runAllTimers();
  expect(fs.utimesSync).toHaveBeenCalledTimes(2);
  append();
  await store.close();
  expect(fs.utimesSync).toHaveBeenCalledTimes(3);
});
