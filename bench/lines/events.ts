import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import type { WorkcellEvent } from '../../src/protocol/index.js';
import { storeAccess } from '../../src/runtime/events/open.js';
import { EventStream } from '../../src/runtime/events/stream.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

const total = 1_000_000;
const mebibyte = 1024 * 1024;

const observation = {
  kind: 'observation' as const,
  cause: 1,
  observation: {
    observation: 'run',
    command: 'npm test',
    output: 'ok\n'.repeat(40),
    exitCode: 0,
    cwd: '/work',
  },
};

export default defineLine({
  name: 'events',
  summary: `an event appended and kept, in a file that has ${total} of them; floor: a SQLite insert in a transaction`,

  async measure() {
    const directory = mkdtempSync(join(tmpdir(), 'workcell-bench-events-'));
    const access = storeAccess({ store: `sqlite:${join(directory, 'events.db')}`, maxBytes: 1024 ** 4 });
    if (access === undefined) throw new Error('The store is not in memory.');
    const shared = await access.acquire();
    const stream = new EventStream('live', { store: access });
    const floor = rawInsert(join(directory, 'floor.db'));
    try {
      await fill(shared.store);
      const before = process.memoryUsage().rss;
      const timings = await interleave(
        {
          'append and kept': () => {
            stream.append(observation, 'environment');
            return stream.kept();
          },
          'insert in a transaction': floor.insert,
          'page of 100 from the middle': () => shared.store.read('full', { after: total / 2, limit: 100 }),
        },
        { rounds: 3000, warmup: 300 },
      );
      const grown = (process.memoryUsage().rss - before) / mebibyte;
      return {
        timings,
        floor: 'insert in a transaction',
        figures: [
          {
            name: 'append p50',
            value: timings['append and kept'].p50,
            unit: 'ms',
            better: 'less',
            bar: 0.2,
            aim: 0.05,
          },
          {
            name: 'page p50',
            value: timings['page of 100 from the middle'].p50,
            unit: 'ms',
            better: 'less',
            bar: 5,
          },
          { name: 'growth of memory', value: grown, unit: 'MiB', better: 'less', bar: 48 },
        ],
      };
    } finally {
      await stream.close();
      shared.release();
      floor.close();
      rmSync(directory, { recursive: true, force: true });
    }
  },
});

async function fill(store: { append(events: readonly WorkcellEvent[]): unknown }): Promise<void> {
  for (let id = 1; id <= total; ) {
    const batch: WorkcellEvent[] = [];
    for (let count = 0; count < 2000; count++, id++)
      batch.push({ ...observation, id, at: Date.now(), runtimeId: 'full', source: 'environment' });
    await store.append(batch);
  }
}

/** The same text into one table, with nothing around it. */
function rawInsert(file: string): { insert(): void; close(): void } {
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE event (body TEXT)');
  const [begin, insert, commit] = ['BEGIN IMMEDIATE', 'INSERT INTO event VALUES (?)', 'COMMIT'].map((sql) =>
    database.prepare(sql),
  );
  const body = JSON.stringify(observation);
  return {
    insert() {
      begin?.run();
      insert?.run(body);
      commit?.run();
    },
    close: () => database.close(),
  };
}
