/** An agent in one process drives a runtime in another, through the store alone. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRuntime, driveRuntime, openEventStore } from '../../../src/index.js';
import { rules, verifyAuditStore } from '../../../src/runtime/security/index.js';
import { findPostgres, type PostgresServer, startPostgres } from './postgres-server.js';

const directory = mkdtempSync(join(tmpdir(), 'workcell-drive-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const program = fileURLToPath(new URL('../../fixtures/drives-runtime.ts', import.meta.url));

/** What the other process prints. */
async function drive(store: string, runtimeId: string, command: string): Promise<string> {
  const args = ['--import', import.meta.resolve('tsx'), program, store, runtimeId, command];
  return (await promisify(execFile)(process.execPath, args)).stdout.trim();
}

const start = (store: string, drivable = true) =>
  createRuntime({
    backend: 'cli',
    config: false,
    guards: [rules()],
    events: { store, drivable },
    audit: { store: true },
  });

function describeDriving(name: string, place: () => string): void {
  describe(name, () => {
    test('another process adds actions and reads their observations, under the policy of the runtime', async () => {
      await using runtime = await start(place());
      expect(await drive(place(), runtime.id, 'echo driven')).toBe('observed driven');
      expect(await drive(place(), runtime.id, 'rm -rf /')).toBe('failed denied');
      const reader = await openEventStore(place());
      const events = await reader.read(runtime.id, { after: 0, limit: 100, kinds: ['action'] });
      await reader.close();
      expect(events.map((event) => event.kind === 'action' && event.action.command)).toEqual([
        'echo driven',
        'rm -rf /',
      ]);
    });

    test('actions are taken in order, each once, also when several are left at once', async () => {
      await using runtime = await start(place());
      await using driver = await driveRuntime(runtime.id, { store: place() });
      const numbers = [1, 2, 3, 4, 5];
      const ids = await Promise.all(
        numbers.map((number) => driver.add({ action: 'run', command: `echo ${number}` }, 'user')),
      );
      expect(new Set(ids).size).toBe(5);
      const seen: unknown[] = [];
      for await (const event of driver.since(0, { kinds: ['observation'] })) {
        if (event.kind === 'observation') seen.push(event.cause);
        if (seen.length === 5) break;
      }
      expect([...seen].sort()).toEqual([...ids].sort());
    });

    test('a runtime that takes no actions is not driven, and what was left for it is taken back', async () => {
      await using runtime = await start(place(), false);
      await using driver = await driveRuntime(runtime.id, { store: place(), takenWithinMs: 50 });
      await expect(driver.add({ action: 'run', command: 'echo no' })).rejects.toMatchObject({
        code: 'timed-out',
      });
      const reader = await openEventStore(place());
      expect(await reader.mailbox.list('action', runtime.id)).toEqual([]);
      await reader.close();
    });

    test('an action that fits no schema is refused, with the reason', async () => {
      await using runtime = await start(place());
      await using driver = await driveRuntime(runtime.id, { store: place() });
      await expect(driver.add({ action: 'run' } as never)).rejects.toMatchObject({ code: 'invalid-action' });
      expect(await driver.add({ action: 'run', command: 'true' })).toBeGreaterThan(0);
    });

    test('the audit record of all of them is one chain in the store', async () => {
      await using runtime = await start(place());
      await runtime.run('true');
      expect(await verifyAuditStore(place())).toMatchObject({ ok: true });
    });
  });
}

describeDriving('sqlite', () => `sqlite:${join(directory, 'drive.db')}`);

const programs = findPostgres();
if (programs === undefined)
  console.warn(
    'PostgreSQL is not installed, so driving through it is not tested; ./scripts/setup --tests installs it.',
  );

describe.skipIf(programs === undefined)('a real server', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(programs ?? '');
  });
  afterAll(() => server.stop());
  describeDriving('postgres', () => server.url);
});

test('events in memory cannot be driven', async () => {
  await expect(start('memory')).rejects.toMatchObject({ code: 'invalid-config' });
});
