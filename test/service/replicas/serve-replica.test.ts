/** What a replica leaves behind when it loses the lease; in this process, on a real server. */
import { fastify } from 'fastify';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectServiceStore } from '../../../src/service/postgres-service-store.js';
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
});
