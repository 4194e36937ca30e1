/** A backend of others that breaks its promises: every call ends, with a reason, and leaves nothing. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { Backend, StartContext } from '../../src/backends/backend.js';
import { defineBackend } from '../../src/backends/backend.js';
import { checkBackend } from '../../src/backends/index.js';

afterEach(() => vi.useRealTimers());

const never = () => new Promise<never>(() => {});

const held = (broken: object) => {
  const schema = z.strictObject({});
  const probe = async () => ({ available: true, tier: 'none', summary: 'A stub.', advice: [] });
  const whole = {
    type: 'broken',
    options: schema,
    place: schema,
    probe,
    start: never,
    attach: never,
    list: never,
  };
  return checkBackend({ ...whole, ...broken }, 'It') as Required<Backend>;
};

const context = (given: Partial<StartContext> = {}) => ({ id: 'abc', onStatus: () => {}, ...given });

const cell = (stop: () => Promise<void>) => ({
  id: 'abc',
  backend: 'broken',
  workspace: '/',
  executor: { execute: never },
  isolation: { tier: 'none', facts: [] },
  stop,
  detach: stop,
});

describe.each(['start', 'attach'] as const)('%s', (what) => {
  const open = (backend: Required<Backend>, told = context()) =>
    what === 'start' ? backend.start({}, told) : backend.attach('abc', {}, told);
  const ended = () => vi.fn(async () => {});

  test.each([
    undefined,
    null,
    'cell',
    {},
    { ...cell(async () => {}), executor: {} },
    { ...cell(async () => {}), isolation: {} },
  ])('that gives %j gives no cell', async (given) => {
    await expect(open(held({ [what]: async () => given }))).rejects.toMatchObject({
      code: 'invalid-config',
      message: expect.stringContaining(`The ${what} of backend "broken" did not give a cell: `),
    });
  });

  test('that gives a cell gives it as it is', async () => {
    const given = cell(async () => {});
    expect(await open(held({ [what]: async () => given }))).toBe(given);
  });

  test('of what is no cell ends what it began', async () => {
    const stop = ended();
    await expect(open(held({ [what]: async () => ({ ...cell(stop), id: 7 }) }))).rejects.toThrow('id: ');
    expect(stop).toHaveBeenCalledOnce();
  });

  test('that throws instead of rejecting fails', async () => {
    const broken = held({
      [what]: () => {
        throw new Error('not today');
      },
    });
    await expect(open(broken)).rejects.toThrow('not today');
  });

  test('that never settles ends with its signal, and what comes later is ended', async () => {
    const stop = ended();
    const stopped = new Promise((resolve) => stop.mockImplementation(async () => resolve(undefined)));
    let give: (late: unknown) => void = () => {};
    const late = new Promise((resolve) => {
      give = resolve;
    });
    vi.useFakeTimers();
    const giveUp = new AbortController();
    const opening = open(held({ [what]: () => late }), context({ signal: giveUp.signal }));
    giveUp.abort();
    const refused = expect(opening).rejects.toMatchObject({ code: 'cancelled' });
    // It gets a while to end what it began.
    await vi.advanceTimersByTimeAsync(5000);
    await refused;
    give(cell(stop));
    await stopped;
  });

  test('that is cancelled ends what it began first', async () => {
    const ended = vi.fn(async () => {});
    const giveUp = new AbortController();
    const begin = async () => {
      giveUp.abort();
      return cell(ended);
    };
    const opening = open(held({ [what]: begin }), context({ signal: giveUp.signal }));
    await expect(opening).rejects.toMatchObject({ code: 'cancelled' });
    expect(ended).toHaveBeenCalledOnce();
  });

  test('that never settles and reports nothing ends, and one that reports goes on', async () => {
    vi.useFakeTimers();
    let report: StartContext['onStatus'] = () => {};
    const begin = (...given: unknown[]) => {
      report = (given.at(-1) as StartContext).onStatus;
      return never();
    };
    const failed = vi.fn();
    open(held({ [what]: begin })).catch(failed);
    await vi.advanceTimersByTimeAsync(599_000);
    report({ status: 'STARTING_RUNTIME', level: 'info', message: 'still at it' });
    await vi.advanceTimersByTimeAsync(599_000);
    expect(failed).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1000);
    expect(failed).toHaveBeenCalledWith(expect.objectContaining({ code: 'backend-unavailable' }));
  });
});

describe('list', () => {
  test.each([undefined, 'cells', {}, [undefined], [{ id: 'abc' }]])('that gives %j fails', async (given) => {
    await expect(held({ list: async () => given }).list({})).rejects.toMatchObject({
      code: 'invalid-config',
      message: expect.stringContaining('The list of backend "broken" did not give a list of cells: '),
    });
  });

  test('that gives no array fails also where defineBackend has to look into it', async () => {
    const probe = held({}).probe;
    const list = async () => 7 as never;
    const defined = defineBackend({ type: 'broken', options: {}, probe, start: never, attach: never, list });
    await expect(defined.list?.({})).rejects.toMatchObject({ code: 'invalid-config' });
  });

  test('that never settles fails', async () => {
    vi.useFakeTimers();
    const failed = vi.fn();
    held({}).list({}).catch(failed);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(failed).toHaveBeenCalledWith(expect.objectContaining({ code: 'backend-unavailable' }));
  });
});

test('what a backend says of its places stays, and what it does not say', () => {
  expect(held({ elsewhere: true, sharesWorkspace: true })).toMatchObject({
    elsewhere: true,
    sharesWorkspace: true,
  });
  const plain: Partial<Backend> = held({});
  expect([plain.elsewhere, plain.sharesWorkspace, plain.overlays, plain.stats]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test('overlays are there where the backend says so plainly', async () => {
  const overlay = { lower: ['/a'], upper: '/b', work: '/c', merged: '/d' };
  const asked = vi.fn(async () => true as unknown);
  const { overlays } = held({ overlays: asked });
  expect(await overlays(overlay)).toBe(true);
  expect(asked).toHaveBeenCalledWith(overlay);
  asked.mockResolvedValue('perhaps');
  expect(await overlays(overlay)).toBe(false);
});

describe('stats', () => {
  const used = {
    observation: 'stats',
    cpuMs: 1,
    memoryBytes: 1,
    diskUsedBytes: 1,
    diskFreeBytes: 1,
    processes: 1,
    uptimeMs: 1,
    idleMs: 1,
  };

  test('come as they are', async () => {
    expect(await held({ stats: async () => used }).stats('abc', {}, {})).toBe(used);
  });

  test('that are none fail', async () => {
    const given = { ...used, memoryBytes: '\u001b[2J' };
    await expect(held({ stats: async () => given }).stats('abc', {}, {})).rejects.toMatchObject({
      code: 'invalid-config',
      message: expect.stringContaining('The stats of backend "broken" did not give what a cell uses: '),
    });
  });

  test('that never settle fail', async () => {
    vi.useFakeTimers();
    const failed = vi.fn();
    held({ stats: never }).stats('abc', {}, {}).catch(failed);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(failed).toHaveBeenCalledWith(expect.objectContaining({ code: 'backend-unavailable' }));
  });
});
