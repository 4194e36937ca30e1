/** What a replica leaves behind when it loses the lease, or cannot ask who has it; in this process, on a real server. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fastify } from 'fastify';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectServiceStore } from '../../../src/service/postgres-service-store.js';
import { LeaderWatch } from '../../../src/service/replicas/leader-watch.js';
import { serveReplica } from '../../../src/service/replicas/serve-replica.js';
import type { ServiceStore } from '../../../src/service/service-store.js';
import { findPostgres, type PostgresServer, startPostgres } from '../../runtime/events/postgres-server.js';

const programs = findPostgres();

describe.skipIf(programs === undefined)('on a real server', () => {
  let server: PostgresServer;
  let admin: pg.Client;
  beforeAll(async () => {
    server = await startPostgres(programs ?? '');
    await (await connectServiceStore(server.url)).end();
    admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
  });
  afterAll(async () => {
    await admin.end();
    await server.stop();
  });

  test('answers that go on end with the lease', async () => {
    const stores: ServiceStore[] = [];
    const replica = await serveReplica({
      url: server.url,
      exposure: { listen: { host: '127.0.0.1', port: 0 } },
      link: { host: '127.0.0.1', port: 0 },
      linkHost: '127.0.0.1',
      leaseMs: 10_000,
      log: () => {},
      async open(store) {
        stores.push(store);
        const app = fastify();
        app.get('/hold', (_request, reply) => {
          reply.hijack();
          reply.raw.writeHead(200);
          reply.raw.write('here');
        });
        return { app, close: () => app.close() };
      },
    });
    const { port } = replica.address as { port: number };
    const held = await fetch(`http://127.0.0.1:${port}/hold`);
    const reader = held.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('here');
    await admin.query('UPDATE workcell_service.holder SET epoch = epoch + 1');
    await expect(stores[0]?.checkHeld()).rejects.toMatchObject({ code: 'store-unavailable' });
    await expect(reader?.read()).rejects.toThrow('terminated');
    await replica.close();
  });

  test('a watch that cannot look leaves no connection open', async () => {
    const way = await wayTo(server.url);
    await admin.query('ALTER TABLE workcell_service.holder RENAME TO hidden');
    const watch = new LeaderWatch(way.url, () => {});
    const watching = watch.start();
    for (let count = 0; count < 2; count++) {
      const session = await way.next();
      if (!session.closed) await once(session, 'close');
    }
    await admin.query('ALTER TABLE workcell_service.hidden RENAME TO holder');
    await admin.query("UPDATE workcell_service.holder SET address = 'there:1'");
    await expect.poll(() => watch.address).toBe('there:1');
    await watch.close();
    await watching;
    await way.close();
  });
});

/** Another socket of the server, which shows who comes. */
async function wayTo(url: string) {
  const directory = mkdtempSync(join(tmpdir(), 'workcell-way-'));
  const socketOf = (host: string) => join(host, '.s.PGSQL.5432');
  const behind = new URL(url).searchParams.get('host') ?? '';
  const came: Socket[] = [];
  const front = createServer({ allowHalfOpen: false }, (socket) => {
    const inside = connect(socketOf(behind));
    for (const side of [socket, inside]) side.on('error', () => {});
    socket.pipe(inside).pipe(socket);
    came.push(socket);
    front.emit('came');
  });
  front.listen(socketOf(directory));
  await once(front, 'listening');
  return {
    url: url.replace(encodeURIComponent(behind), encodeURIComponent(directory)),
    async next(): Promise<Socket> {
      if (came.length === 0) await once(front, 'came');
      return came.shift() as Socket;
    },
    async close() {
      front.close();
      await once(front, 'close');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
