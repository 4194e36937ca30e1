/** Two replicas of a service on PostgreSQL under load, of which one is killed every few seconds. */
import { chmodSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openEventStore } from '../../src/runtime/events/open.js';
import { findPostgres, startPostgres } from '../../test/runtime/events/postgres-server.js';
import { Load } from '../../test/service/replicas/load.js';
import { replicasIn } from '../../test/service/replicas/replica-process.js';
import type { Report } from './report.js';

const everyMs = 4000;

/** Needs the build, and PostgreSQL on this machine. */
export async function soakReplicas(options: {
  directory: string;
  seconds: number;
  clients: number;
}): Promise<Report> {
  const { directory, seconds, clients } = options;
  const programs = findPostgres();
  if (programs === undefined) throw new Error('PostgreSQL is not installed: ./scripts/setup --tests.');
  process.env.XDG_RUNTIME_DIR = directory;
  // PostgreSQL runs as another user.
  chmodSync(directory, 0o711);
  const server = await startPostgres(programs);
  const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
  const start = replicasIn(directory, server.url, program, `max_cells_per_tenant = ${clients * 2}\n`);
  const replicas = [await start(), await start()];
  const { load, over } = await Load.start(() => replicas.map(({ url }) => url), clients);
  let kills = 0;
  for (const end = performance.now() + seconds * 1000; performance.now() < end; kills++) {
    await setTimeout(everyMs);
    const index = kills % 2;
    await replicas[index]?.end('SIGKILL');
    replicas[index] = await start();
    console.error(`${kills + 1} kills, ${load.acknowledged} requests acknowledged`);
  }
  load.stop();
  await over;
  const events = await openEventStore(server.url);
  const wrong = await load.check(events);
  await events.close();
  for (const replica of replicas) await replica.end('SIGTERM');
  await server.stop();
  for (const one of wrong) console.error(one);
  return {
    title: `${load.acknowledged} requests of ${clients} clients, ${kills} replicas killed, ${load.failures} requests repeated`,
    rows: [{ name: 'lost or doubled', before: 0, after: wrong.length, slack: 0 }],
  };
}
