import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openEventStore } from '../../../src/runtime/events/open.js';
import { findPostgres, type PostgresServer, startPostgres } from './postgres-server.js';
import { describeStore } from './store-contract.js';

const programs = findPostgres();
if (programs === undefined)
  console.warn(
    'PostgreSQL is not installed, so its store is not tested; ./scripts/setup --tests installs it.',
  );

describe.skipIf(programs === undefined)('a real server', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(programs ?? '');
  });
  afterAll(() => server.stop());

  describeStore('postgres', { open: () => openEventStore(server.url), lasting: true, sized: false });

  test('its name and its failures show no password', async () => {
    const store = await openEventStore(server.url);
    expect(store.name).toBe('postgres://tester@localhost/postgres');
    await store.close();
    const wrong = server.url.replace('/postgres?', '/absent?');
    const failure = await openEventStore(wrong).catch(
      (error: unknown) => error as Error & { cause: unknown },
    );
    expect(failure).toMatchObject({ code: 'store-unavailable' });
    expect(JSON.stringify([failure, String(failure)])).not.toContain('not-needed');
    expect((failure as { cause?: unknown }).cause).toBeUndefined();
  });
});
