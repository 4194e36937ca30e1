/** Replicas that are killed under load: nothing acknowledged is lost, and nothing happens twice. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listCells } from '../../../src/index.js';
import { openEventStore } from '../../../src/runtime/events/open.js';
import { builtFile } from '../../built-file.js';
import { findPostgres, type PostgresServer, startPostgres } from '../../runtime/events/postgres-server.js';
import { Load } from './load.js';
import { type Replica, replicasIn } from './replica-process.js';

const programs = findPostgres();
const directory = mkdtempSync(join(tmpdir(), 'workcell-replicas-'));
// Where their cells are, apart from those of other tests.
process.env.XDG_RUNTIME_DIR = directory;

describe.skipIf(programs === undefined)('two replicas on a real server', () => {
  let server: PostgresServer;
  let start: () => Promise<Replica>;
  const replicas: Replica[] = [];
  beforeAll(async () => {
    server = await startPostgres(programs ?? '');
    start = replicasIn(directory, server.url, builtFile('cli/main.js'));
    replicas.push(await start(), await start());
  });
  afterAll(async () => {
    for (const replica of replicas) await replica.end('SIGTERM');
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  test('one is killed again and again: nothing acknowledged is lost, nothing doubled', async () => {
    const { load, over } = await Load.start(() => replicas.map(({ url }) => url), 4);
    // Alternating, so that the one that serves is among them.
    for (const index of [0, 1, 0]) {
      await load.more(20);
      await replicas[index]?.end('SIGKILL');
      replicas[index] = await start();
    }
    await load.more(20);
    load.stop();
    await over;
    const events = await openEventStore(server.url);
    expect(await load.check(events)).toEqual([]);
    await events.close();
    const config = join(directory, 'service.toml');
    expect(await listCells({ backend: 'sandbox', config })).toEqual([]);
  }, 180_000);
});
