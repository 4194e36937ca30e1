/** What becomes of cells when the way to them breaks, the disk is full, or time passes; on runtimes that do as told. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test, vi } from 'vitest';
import { createRuntime } from '../../src/index.js';
import { WorkcellError } from '../../src/protocol/index.js';
import type { RuntimeSource } from '../../src/service/runtime-source.js';
import { createServiceApp, type ServiceParts } from '../../src/service/service-app.js';
import { asked, failing, open, source, store, tenant, there } from './told-cells.js';

test('a service whose store cannot be read is alive and not ready', async () => {
  const cells = await open();
  const app = createServiceApp({ cells } as ServiceParts, {});
  const status = async (url: string) => (await app.inject({ url })).statusCode;
  expect(await status('/readyz')).toBe(200);
  store.close();
  expect(await status('/readyz')).toBe(503);
  expect(await status('/healthz')).toBe(200);
  await app.close();
});

test('a broken connection ends no cell; one that is gone is lost', async () => {
  const cells = await open();
  const { record } = await cells.create(tenant, asked());
  there.get(record.id)?.lose();
  await vi.waitFor(async () => expect((await cells.use(tenant, record.id)).context).toBeDefined());
  expect(there.get(record.id)?.ends).toBe(0);
  const { lose } = there.get(record.id) ?? {};
  there.delete(record.id);
  lose?.();
  await vi.waitFor(() => expect(cells.get(tenant, record.id).state).toBe('lost'));
});

test('a cell that dies while it starts is not taken for one that runs', async () => {
  const dying: RuntimeSource = {
    ...source,
    async create(id, options, onLost) {
      const runtime = await source.create(id, options, onLost);
      there.delete(id);
      onLost();
      return Object.assign(runtime, { status: 'ERROR_RUNTIME_DISCONNECTED' });
    },
  };
  const cells = await open({}, dying);
  const { record } = await cells.create(tenant, asked());
  await vi.waitFor(() => expect(cells.get(tenant, record.id).state).toBe('lost'));
});

test('a change that comes during another one is kept', async () => {
  const cells = await open();
  const { record } = await cells.create(tenant, asked());
  let go = () => {};
  failing.pause = new Promise((resolve) => {
    go = resolve;
  });
  const pausing = cells.pause(tenant, record.id);
  const changing = cells.change(tenant, record.id, { labels: { kept: 'yes' }, ttlMs: 60_000 });
  await changing;
  go();
  await pausing;
  expect(cells.get(tenant, record.id)).toMatchObject({
    state: 'paused',
    labels: { kept: 'yes' },
    expiresAt: expect.any(Number),
  });
});

test('a store that takes nothing leaves neither a cell nor a name behind', async () => {
  const cells = await open();
  const put = store.putCell.bind(store);
  const full = () => {
    throw new Error('full');
  };
  const writes = vi.spyOn(store, 'putCell');
  writes.mockImplementationOnce(full);
  await expect(cells.create(tenant, asked({ name: 'mine' }))).rejects.toThrow('full');
  expect(cells.list(tenant)).toEqual([]);
  // Now it takes the record of the start, and not that of the cell that runs.
  writes.mockImplementationOnce(put).mockImplementationOnce(full);
  await expect(cells.create(tenant, asked({ name: 'mine' }))).rejects.toThrow('full');
  expect(there.size).toBe(0);
  expect(cells.list(tenant)).toEqual([]);
});

test('a store that refuses to forget a failed start hides neither its reason nor its name', async () => {
  const failing: RuntimeSource = {
    ...source,
    create: async () => {
      throw new Error('no such image');
    },
  };
  let from = failing;
  const cells = await open({}, { ...source, create: (...given) => from.create(...given) });
  const full = () => {
    throw new Error('full');
  };
  vi.spyOn(store, 'endCell').mockImplementationOnce(full);
  await expect(cells.create(tenant, asked({ name: 'mine' }))).rejects.toThrow('no such image');
  expect(cells.list(tenant)).toEqual([]);
  expect(store.cells()).toHaveLength(1);
  from = source;
  const { record, isNew } = await cells.create(tenant, asked({ name: 'other' }));
  expect(isNew).toBe(true);
  // The store takes writes again, so it has forgotten the other one.
  expect(store.cells().map(({ id }) => id)).toEqual([record.id]);
  expect((await cells.create(tenant, asked({ name: 'mine' }))).isNew).toBe(true);
});

test('a failed start that cannot be ended either is lost, also while the store takes nothing', async () => {
  const cells = await open();
  const put = store.putCell.bind(store);
  const full = () => {
    throw new Error('full');
  };
  const writes = vi.spyOn(store, 'putCell');
  writes.mockImplementationOnce(put).mockImplementationOnce(full).mockImplementationOnce(full);
  failing.close = true;
  await expect(cells.create(tenant, asked({ name: 'mine' }))).rejects.toThrow('full');
  expect(cells.list(tenant)).toMatchObject([{ name: 'mine', state: 'lost' }]);
  failing.close = false;
  await cells.create(tenant, asked());
  expect(store.cells().map(({ state }) => state)).toEqual(expect.arrayContaining(['lost', 'running']));
  await cells.remove(tenant, 'mine');
  await cells.create(tenant, asked());
  expect(store.cells().map(({ state }) => state)).toEqual(['running', 'running']);
  expect(there.size).toBe(2);
});

test('a timer of a process that holds the store no longer touches no cell', async () => {
  vi.useFakeTimers();
  const cells = await open();
  const { record: ending } = await cells.create(tenant, asked({ ttlMs: 5000 }));
  const { record: pausing } = await cells.create(tenant, asked({ idleMs: 5000 }));
  const { runtime, done } = await cells.use(tenant, pausing.id);
  done();
  const paused = vi.spyOn(runtime, 'pause');
  const lost = new WorkcellError('store-unavailable', 'another one has it');
  const checks = vi.spyOn(store, 'checkHeld').mockImplementation(() => {
    throw lost;
  });
  await vi.advanceTimersByTimeAsync(6000);
  expect(checks).toHaveBeenCalled();
  expect(there.get(ending.id)?.ends).toBe(0);
  expect(paused).not.toHaveBeenCalled();
});

test('a cell that nobody uses after a restart is still looked after', async () => {
  vi.useFakeTimers();
  const before = await open();
  const { record } = await before.create(tenant, asked({ idleMs: 5000, onIdle: 'end' }));
  await before.close();
  const after = await open();
  expect(after.get(tenant, record.id).state).toBe('running');
  await vi.advanceTimersByTimeAsync(6000);
  expect(there.size).toBe(0);
  expect(after.list(tenant)).toEqual([]);
});

test('a cell that a killed process used is not idle for the next one', async () => {
  vi.useFakeTimers();
  const before = await open();
  const { record } = await before.create(tenant, asked());
  await before.close();
  // What a process that is killed leaves: nothing about the use of the cell after its creation.
  store.putCell({ ...record, idleMs: 5000, onIdle: 'end', usedAt: Date.now() - 3_600_000 });
  const after = await open();
  await vi.advanceTimersByTimeAsync(4000);
  expect(after.list(tenant)).toMatchObject([{ state: 'running' }]);
  await vi.advanceTimersByTimeAsync(2000);
  expect(there.size).toBe(0);
});

test('a cell that dies while nobody uses it is found to be lost, and one that only hides is not', async () => {
  vi.useFakeTimers();
  const before = await open();
  const [{ record: dead }, { record: hidden }] = [
    await before.create(tenant, asked()),
    await before.create(tenant, asked()),
  ];
  await before.close();
  const after = await open();
  const cell = there.get(hidden.id);
  there.clear();
  await vi.advanceTimersByTimeAsync(60_000);
  if (cell !== undefined) there.set(hidden.id, cell);
  expect(after.get(tenant, dead.id).state).toBe('running');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(after.get(tenant, dead.id).state).toBe('lost');
  expect(after.get(tenant, hidden.id).state).toBe('running');
  await after.close();
});

test.each(['pause', 'end'] as const)(
  'a cell that somebody resumes has its whole idle time again (%s)',
  async (onIdle) => {
    vi.useFakeTimers();
    const cells = await open();
    const { record } = await cells.create(tenant, asked({ idleMs: 5000, onIdle }));
    await cells.pause(tenant, record.id);
    await vi.advanceTimersByTimeAsync(60_000);
    const resumed = await cells.resume(tenant, record.id);
    expect(resumed).toMatchObject({ state: 'running', usedAt: Date.now() });
    await vi.advanceTimersByTimeAsync(4000);
    expect(cells.get(tenant, record.id).state).toBe('running');
    await cells.resume(tenant, record.id);
    await vi.advanceTimersByTimeAsync(4000);
    expect(cells.get(tenant, record.id).state).toBe('running');
    await vi.advanceTimersByTimeAsync(2000);
    expect(cells.list(tenant)).toMatchObject(onIdle === 'end' ? [] : [{ state: 'paused' }]);
  },
);

test.each([false, true])(
  'looks do not keep a cell from becoming idle (connection lost: %s)',
  async (isLost) => {
    vi.useFakeTimers();
    const cells = await open();
    const { record } = await cells.create(tenant, asked({ idleMs: 5000 }));
    for (let seconds = 0; seconds < 4; seconds++) {
      await vi.advanceTimersByTimeAsync(1000);
      if (isLost) there.get(record.id)?.lose();
      const { context, done } = await cells.look(tenant, record.id);
      expect(context).toBeDefined();
      done();
    }
    await vi.advanceTimersByTimeAsync(1500);
    expect(cells.get(tenant, record.id).state).toBe('paused');
  },
);

test('a look at a cell that pauses does not wake it', async () => {
  const cells = await open();
  const { record } = await cells.create(tenant, asked());
  let go = () => {};
  failing.pause = new Promise((resolve) => {
    go = resolve;
  });
  const pausing = cells.pause(tenant, record.id);
  const looking = cells.look(tenant, record.id);
  go();
  await pausing;
  await expect(looking).rejects.toMatchObject({ code: 'cell-in-use' });
  expect(cells.get(tenant, record.id).state).toBe('paused');
});

test('a broken connection does not make a used cell idle', async () => {
  vi.useFakeTimers();
  const cells = await open();
  const { record } = await cells.create(tenant, asked({ idleMs: 5000, onIdle: 'end' }));
  await vi.advanceTimersByTimeAsync(4000);
  (await cells.use(tenant, record.id)).done();
  there.get(record.id)?.lose();
  await vi.advanceTimersByTimeAsync(4000);
  expect(cells.list(tenant)).toMatchObject([{ state: 'running' }]);
});

test('a backend that does not answer hides its own cells, and not that others are lost', async () => {
  vi.useFakeTimers();
  const before = await open();
  const [{ record: dead }, { record: unknown }] = [
    await before.create(tenant, asked()),
    await before.create(tenant, asked()),
  ];
  await before.close();
  const find: RuntimeSource['find'] = async (records) =>
    new Map(records.flatMap(({ id }) => (id === unknown.id ? [] : [[id, there.has(id)]])));
  const after = await open({}, { ...source, find });
  there.clear();
  await vi.advanceTimersByTimeAsync(120_000);
  expect(after.get(tenant, dead.id).state).toBe('lost');
  expect(after.get(tenant, unknown.id).state).toBe('running');
  await after.close();
});

test('a cell that could not be ended at its time is ended later', async () => {
  vi.useFakeTimers();
  const cells = await open();
  await cells.create(tenant, asked({ ttlMs: 1000 }));
  failing.close = true;
  await vi.advanceTimersByTimeAsync(2000);
  expect(there.size).toBe(1);
  failing.close = false;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(there.size).toBe(0);
  expect(cells.list(tenant)).toEqual([]);
});

test('a cell that pauses when its time is over still ends with the longest time of its template', async () => {
  vi.useFakeTimers();
  const cells = await open({ ttlMs: 10_000 });
  const { record } = await cells.create(tenant, { ...asked({ ttlMs: 1000 }), onExpiry: 'pause' });
  await vi.advanceTimersByTimeAsync(1500);
  expect(cells.get(tenant, record.id).state).toBe('paused');
  await cells.change(tenant, record.id, { ttlMs: 5000 });
  await cells.resume(tenant, record.id);
  await vi.advanceTimersByTimeAsync(4000);
  expect(cells.get(tenant, record.id).state).toBe('running');
  await vi.advanceTimersByTimeAsync(1500);
  expect(cells.get(tenant, record.id).state).toBe('paused');
  await vi.advanceTimersByTimeAsync(4000);
  expect(there.size).toBe(0);
  expect(cells.list(tenant)).toEqual([]);
});

test('a template that ends idle cells is not talked out of it', async () => {
  const cells = await open({ onIdle: 'end', idleMs: 1000 });
  const { record } = await cells.create(tenant, asked({ onIdle: 'pause' }));
  expect(record.onIdle).toBe('end');
  expect((await cells.change(tenant, record.id, { onIdle: 'pause' })).onIdle).toBe('end');
});

test('a server that is silent holds up neither the end of a cell, nor its time, nor that of the service', async () => {
  let reached = () => {};
  const silent = createServer(() => reached()).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const real: RuntimeSource = {
    ...source,
    create: () => createRuntime({ config: false, backend: 'local', events: { store: 'memory' } }),
  };
  const cells = await open({}, real);
  const fill = async (fields: object = {}) => {
    const isReached = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const repository = { url: `http://127.0.0.1:${port}/slow.git` };
    const failure = cells.create(tenant, asked({ ...fields, repository })).catch(({ code }) => code);
    await Promise.race([isReached, failure]);
    return { failure };
  };
  const removed = await fill({ name: 'removed' });
  await cells.remove(tenant, 'removed');
  expect(await removed.failure).toBe('cancelled');
  const brief = await fill({ ttlMs: 1000 });
  expect(await brief.failure).toBe('cancelled');
  const left = await fill();
  await cells.close();
  expect(await left.failure).toBe('cancelled');
  expect(cells.list(tenant)).toEqual([]);
  silent.close();
});

test('a cell that could be neither filled nor ended stays known, until it is ended', async () => {
  const cells = await open();
  failing.close = true;
  const archive = { format: 'tar', data: '', path: '.' };
  await expect(cells.create(tenant, asked({ name: 'mine', archive }))).rejects.toThrow('no files');
  expect(cells.list(tenant)).toMatchObject([{ name: 'mine', state: 'lost' }]);
  expect(store.cells()).toMatchObject([{ name: 'mine', state: 'lost' }]);
  failing.close = false;
  await cells.remove(tenant, 'mine');
  expect(there.size).toBe(0);
  expect(cells.list(tenant)).toEqual([]);
});

test('a cell that lets nobody in is not forgotten while its backend has it', async () => {
  const closed: RuntimeSource = {
    ...source,
    attach: async () => {
      throw new WorkcellError('cell-not-found', 'It holds no cell.');
    },
  };
  const cells = await open({}, closed);
  const { record } = await cells.create(tenant, asked());
  there.get(record.id)?.lose();
  await expect(cells.remove(tenant, record.id)).rejects.toMatchObject({ code: 'backend-unavailable' });
  expect(cells.list(tenant)).toMatchObject([{ id: record.id }]);
  there.clear();
  await cells.remove(tenant, record.id);
  expect(cells.list(tenant)).toEqual([]);
});

test('a name whose cell is being ended leads to a new one', async () => {
  const cells = await open();
  const first = await cells.create(tenant, asked({ name: 'mine' }));
  const [, second] = await Promise.all([
    cells.remove(tenant, 'mine'),
    cells.create(tenant, asked({ name: 'mine' })),
  ]);
  expect(second.isNew).toBe(true);
  expect(second.record.id).not.toBe(first.record.id);
});

test('usage counts the time that cells run, day by day, and not that of paused ones', async () => {
  vi.useFakeTimers({ now: Date.parse('2030-01-01T23:59:50Z') });
  const cells = await open();
  const { record } = await cells.create(tenant, asked());
  vi.setSystemTime(Date.parse('2030-01-02T00:00:20Z'));
  await cells.pause(tenant, record.id);
  vi.setSystemTime(Date.parse('2030-01-02T01:00:00Z'));
  await cells.resume(tenant, record.id);
  vi.setSystemTime(Date.parse('2030-01-02T01:00:05Z'));
  const both = [
    { tenant, day: '2030-01-01', cellMs: 10_000, cells: 1 },
    { tenant, day: '2030-01-02', cellMs: 25_000, cells: 0 },
  ];
  expect(await cells.usage(undefined, '2030-01-01', '2030-01-02')).toEqual(both);
  await cells.remove(tenant, record.id);
  vi.setSystemTime(Date.parse('2030-01-02T02:00:00Z'));
  expect(await cells.usage(tenant, '2030-01-01', '2030-01-02')).toEqual(both);
  expect(await cells.usage(tenant, '2030-01-02', '2030-01-09')).toEqual(both.slice(1));
  expect(await cells.usage('other', '2030-01-01', '2030-01-02')).toEqual([]);
});
