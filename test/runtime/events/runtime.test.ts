/** The event store in a real runtime. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { type CreateRuntimeOptions, createRuntime, type StatusUpdate } from '../../../src/index.js';
import type { WorkcellEvent } from '../../../src/protocol/index.js';
import { openEventStore } from '../../../src/runtime/events/open.js';

const directory = mkdtempSync(join(tmpdir(), 'workcell-events-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
afterEach(() => vi.unstubAllEnvs());

const file = (name: string) => join(directory, name);
const start = (options: Partial<CreateRuntimeOptions> = {}) =>
  createRuntime({ backend: 'cli', config: false, ...options } as CreateRuntimeOptions);

async function stored(place: string, runtimeId: string): Promise<readonly WorkcellEvent[]> {
  const store = await openEventStore(place);
  try {
    return await store.read(runtimeId, { after: 0, limit: 10_000 });
  } finally {
    await store.close();
  }
}

test('what was answered is in the store at once, and another process can read it', async () => {
  const store = `sqlite:${file('answered.db')}`;
  await using runtime = await start({ events: { store } });
  expect(runtime.events.store).toBe(store);
  const { output } = await runtime.run('echo hello');
  const events = await stored(store, runtime.id);
  expect(events.at(-2)).toMatchObject({ kind: 'action', source: 'agent', action: { command: 'echo hello' } });
  expect(events.at(-1)).toMatchObject({
    kind: 'observation',
    cause: events.at(-2)?.id,
    observation: { output },
  });
});

test('of a result of many megabytes the record keeps a part, and what tells the whole', async () => {
  const store = `sqlite:${file('large.db')}`;
  await using runtime = await start({ events: { store } });
  const bytes = 8 * 1024 * 1024;
  const whole = Buffer.alloc(bytes, 1);
  const script = `head -c ${bytes} /dev/zero | tr '\\0' '\\1'`;
  const { id } = await runtime.processes.start(['sh', '-c', script]);
  const answer = await runtime.execute({ action: 'wait_process', id, maxOutputBytes: bytes });
  expect(answer.stdout.length).toBe(bytes);
  await runtime.run('true');
  const events = await stored(store, runtime.id);
  const event = events.findLast(
    (each) => each.kind === 'observation' && each.observation.observation === 'wait_process',
  );
  const { stdout } = (event as unknown as { observation: { stdout: string } }).observation;
  expect(stdout.length).toBeLessThan(1_048_576);
  expect(stdout).toMatch(/^\x01+\n… \[cut: .*\] …\n\x01+$/);
  expect(stdout).toContain(
    `${bytes} bytes in all, SHA-256 ${createHash('sha256').update(whole).digest('hex')}`,
  );
  expect(events.at(-1)).toMatchObject({ kind: 'observation', observation: { exitCode: 0 } });
});

test('an action is in the store before it runs', async () => {
  const store = `sqlite:${file('before.db')}`;
  await using runtime = await start({ events: { store } });
  const reader = await openEventStore(store);
  const running = runtime.run('echo started; read answer; echo "$answer"', {
    onOutput: async () => {
      const events = await reader.read(runtime.id, { after: 0, limit: 100 });
      if (events.at(-1)?.kind === 'action') await runtime.run('go', { input: true });
    },
  });
  expect((await running).output).toContain('go');
  await reader.close();
});

test('without a named store it is a file of this user that only the user can read', async () => {
  vi.stubEnv('XDG_STATE_HOME', file('state'));
  const runtime = await start();
  await runtime.run('true');
  expect(runtime.events.store).toBe(`sqlite:${file('state')}/workcell/events.db`);
  expect(statSync(file('state/workcell/events.db')).mode & 0o777).toBe(0o600);
  await runtime.close();
  expect((await stored(runtime.events.store, runtime.id)).at(-1)).toMatchObject({
    status: { status: 'STOPPED' },
  });
});

test('a default store that cannot be used is told, and the runtime goes on in memory', async () => {
  writeFileSync(file('taken'), '');
  vi.stubEnv('XDG_STATE_HOME', file('taken'));
  const updates: StatusUpdate[] = [];
  const runtime = await start({ onStatus: (update) => updates.push(update) });
  expect((await runtime.run('echo works')).output).toBe('works\n');
  expect(updates).toContainEqual({
    status: 'EVENTS_NOT_STORED',
    level: 'error',
    message: expect.stringContaining('taken'),
  });
  expect(runtime.events.store).toBe('memory');
  await runtime.close();
  const kinds = [];
  for await (const event of runtime.events) kinds.push(event.kind);
  expect(kinds).toContain('observation');
  expect(updates.filter(({ status }) => status === 'EVENTS_NOT_STORED')).toHaveLength(1);
});

test('a named store that cannot be used stops the start, and nothing is left behind', async () => {
  writeFileSync(file('no-directory'), '');
  await expect(start({ events: { store: `sqlite:${file('no-directory/x.db')}` } })).rejects.toMatchObject({
    code: 'store-unavailable',
  });
  await expect(start({ events: { store: 'mysql://x' } })).rejects.toMatchObject({ code: 'invalid-config' });
});

test('a subscriber that is slow reads on from the store and misses nothing', async () => {
  await using runtime = await start({ events: { store: `sqlite:${file('slow.db')}` } });
  const iterator = runtime.events.since(0)[Symbol.asyncIterator]();
  expect((await iterator.next()).value).toMatchObject({ id: 1 });
  for (let index = 0; index < 700; index++) await runtime.env.set({ N: String(index) });
  for (let id = 2; id <= 1400; id++) expect((await iterator.next()).value).toMatchObject({ id });
});

test('a filter applies to what is replayed and to what comes', async () => {
  await using runtime = await start({ events: { store: `sqlite:${file('filter.db')}` } });
  await runtime.run('echo one');
  const iterator = runtime.events
    .since(0, { kinds: ['action', 'observation'], text: 'two' })
    [Symbol.asyncIterator]();
  const next = iterator.next();
  await runtime.run('echo two');
  expect((await next).value).toMatchObject({ kind: 'action', action: { command: 'echo two' } });
  expect((await iterator.next()).value).toMatchObject({ kind: 'observation' });
});

test('an agent drives a runtime by adding actions to its events, one after the other', async () => {
  await using runtime = await start({ events: { store: 'memory' } });
  const ids = await Promise.all([
    runtime.events.add({ action: 'run', command: 'x=1; echo first' }),
    runtime.events.add({ action: 'run', command: 'echo $x' }, 'user'),
    runtime.events.add({ action: 'read', path: 'absent' }),
  ]);
  const outcomes: WorkcellEvent[] = [];
  for await (const event of runtime.events.since(0)) {
    if (event.kind === 'observation' || event.kind === 'error') outcomes.push(event);
    if (outcomes.length === 3) break;
  }
  expect(outcomes).toMatchObject([
    { cause: ids[0], observation: { output: 'first\n' } },
    { cause: ids[1], observation: { output: '1\n' } },
    { cause: ids[2], kind: 'error', error: { code: 'not-found' } },
  ]);
  await expect(runtime.events.add({ action: 'nonsense' } as never)).rejects.toMatchObject({
    code: 'invalid-action',
  });
});

test('transfers and terminals are in the events too', async () => {
  const runtime = await start({ events: { store: 'memory' } });
  await runtime.files.upload(Buffer.from('x'), 'sent.txt');
  await expect(runtime.files.download('absent')).rejects.toMatchObject({ code: 'not-found' });
  await (await runtime.terminals.open()).close();
  await runtime.close();
  const seen = [];
  for await (const event of runtime.events.since(0, { kinds: ['action', 'observation', 'error'] }))
    seen.push(event.kind === 'action' ? event.action.action : event.kind);
  expect(seen).toEqual(['upload', 'observation', 'download', 'error', 'open_terminal', 'observation']);
});

test('what a transfer is asked for is checked before anything is done or recorded', async () => {
  await using runtime = await start({ events: { store: 'memory' } });
  const bytes = Buffer.from('x');
  const asked: [() => Promise<unknown>, string][] = [
    [() => runtime.files.upload('data.bin', bytes as never), 'takes first what to upload'],
    [
      () => runtime.files.upload('no-such-file', 'data.bin'),
      'The local file no-such-file cannot be read: ENOENT',
    ],
    [() => runtime.files.upload('/', 'data.bin'), '/ on this machine is not a regular file'],
    [() => runtime.upload(bytes as never, 'data.bin' as never), 'use files.upload'],
    [() => runtime.files.download(7 as never), 'path: '],
    [() => runtime.terminals.open({ cwd: 7 as never }), 'cwd: '],
  ];
  for (const [ask, message] of asked)
    await expect(ask()).rejects.toMatchObject({
      code: 'invalid-action',
      message: expect.stringContaining(message),
    });
  await runtime.files.upload(fileURLToPath(import.meta.url), 'data.bin');
  const seen = [];
  for await (const event of runtime.events.since(0, { kinds: ['action', 'observation', 'error'] })) {
    seen.push(event.kind === 'action' ? event.action.action : event.kind);
    if (seen.length === 2) break;
  }
  expect(seen).toEqual(['upload', 'observation']);
});

test('an action that cannot be recorded does not run, and nothing is missing once the store works again', async () => {
  const store = `sqlite:${file('locked.db')}`;
  await using runtime = await start({ events: { store } });
  await runtime.run('true');
  const other = new DatabaseSync(file('locked.db'));
  other.exec('BEGIN IMMEDIATE');
  await expect(runtime.run('touch made')).rejects.toMatchObject({ code: 'store-unavailable' });
  other.exec('ROLLBACK');
  other.close();
  expect((await runtime.run('ls')).output).toBe('');
  const events = await stored(store, runtime.id);
  expect(events.map((event) => event.id)).toEqual(events.map((_, position) => position + 1));
  expect(events).toContainEqual(
    expect.objectContaining({ kind: 'error', error: expect.objectContaining({ code: 'store-unavailable' }) }),
  );
});

test('many runtimes share one file', async () => {
  const store = `sqlite:${file('shared.db')}`;
  const runtimes = await Promise.all(Array.from({ length: 8 }, () => start({ events: { store } })));
  await Promise.all(runtimes.map((runtime, index) => runtime.run(`echo ${index}`)));
  await Promise.all(runtimes.map((runtime) => runtime.close()));
  for (const [index, { id }] of runtimes.entries()) {
    const events = await stored(store, id);
    expect(events.map((event) => event.id)).toEqual(events.map((_, position) => position + 1));
    expect(events).toContainEqual(
      expect.objectContaining({ observation: expect.objectContaining({ output: `${index}\n` }) }),
    );
  }
});

test('the audit record is let go of when the runtime closes', async () => {
  const audit = file('audit.jsonl');
  const runtime = await start({ audit: { file: audit } });
  await runtime.run('true');
  expect(openFiles()).toContain(audit);
  await runtime.close();
  expect(openFiles()).not.toContain(audit);
});

function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/self/fd/${descriptor}`)];
    } catch {
      return [];
    }
  });
}
