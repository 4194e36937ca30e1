/** What every vendor's backend must do against its stand-in, besides the contract. */
import { afterEach, describe, expect, test } from 'vitest';
import { loadBackend } from '../../../src/backends/index.js';
import { attachRuntime, type CreateRuntimeOptions, createRuntime, listCells } from '../../../src/index.js';
import { refusal, sh } from '../../../src/testing/contract/given.js';
import { contractSample } from './contract-sample.js';
import { Answer, type Cloud, type Fault } from './stand-in.js';

interface Vendor {
  readonly pauses: boolean;
  /** What the addresses of these calls contain. */
  readonly calls: Readonly<Record<'create' | 'run' | 'write' | 'end', string>>;
  /** What an address that lists sandboxes ends with. */
  readonly list: string;
  /** The same as `calls`, of the call that waits until a new sandbox runs, where there is one. */
  readonly ready?: string;
  /** Bodies that its specification allows for nothing, if those for JSON cannot be sent. */
  readonly strange?: readonly unknown[];
  /** Requirements that this one shows besides those of every vendor. */
  readonly contract?: Parameters<typeof contractSample>[1];
}

export function vendorSuite(
  vendor: () => Cloud,
  place: (key?: string) => { readonly backend: 'daytona' | 'e2b' | 'modal' | 'runloop' },
  { pauses, calls, list, ready, contract, strange = strangeJson }: Vendor,
): void {
  const create = (more: object = {}) =>
    createRuntime({ ...place(), config: false, ...more } as CreateRuntimeOptions);
  const where = (key?: string) =>
    ({ ...place(key), config: false }) as Parameters<typeof listCells>[0] &
      Parameters<typeof attachRuntime>[1] &
      object;
  const used = async (id: string) => {
    const { backend: name, ...rest } = place();
    const { stats } = await loadBackend(name);
    if (stats === undefined) throw new Error(`${name} tells of no cell what it uses`);
    return stats(id, rest, {});
  };
  const once = (call: keyof Vendor['calls'], fault: ReturnType<Fault> | (() => ReturnType<Fault>)) =>
    vendor().faults.add(({ path, method }) => {
      if (method === 'GET' || !path.includes(calls[call])) return undefined;
      return typeof fault === 'function' ? fault() : fault;
    });
  // The client would try again by itself otherwise.
  const refused = (status: number, message: string) =>
    new Answer(status, { message }, { 'x-should-retry': 'false' });

  describe('its contract', () => contractSample(() => place(), contract));

  describe('what is left', () => {
    afterEach(async () => {
      const unused = vendor().faults.clear();
      const left = await vendor().left();
      for (const id of left) await vendor().end(id);
      const forbidden = vendor().forbidden.splice(0);
      expect({ unused, left, forbidden }).toEqual({ unused: [], left: [], forbidden: [] });
    });

    test('a cell that is kept is listed without its key, attached to, and ended', async () => {
      const first = await create({ keepAlive: true, labels: { mine: 'yes' } });
      expect(first.isolation.tier).toBe('vendor');
      await sh(first, 'cd /tmp; export STAGE=one');
      await first.detach();
      const [kept] = await listCells(where());
      expect(kept).toMatchObject({ id: first.id, status: 'running', labels: { mine: 'yes' } });
      expect(JSON.stringify(kept)).not.toContain(vendor().key);
      const second = await attachRuntime(first.id, where());
      expect(await sh(second, 'pwd; echo $STAGE')).toBe('/tmp\none\n');
      expect(await sh(second, 'env')).not.toContain(vendor().key);
      // Somebody works in it, and goes on.
      expect(await used(first.id)).toMatchObject({ observation: 'stats', processes: expect.any(Number) });
      await refusal(used('x'), 'cell-not-found');
      if (pauses) {
        await second.pause();
        expect(await listCells(where())).toMatchObject([{ id: first.id, status: 'paused' }]);
        const waiting = sh(second, 'echo waited');
        await second.resume();
        expect(await waiting).toBe('waited\n');
      }
      await second.close();
      expect(await vendor().left()).toEqual([]);
      expect(await listCells(where())).toEqual([]);
      await refusal(attachRuntime(first.id, where()), 'cell-not-found');
    });

    test('an action takes one call of the vendor at most', async () => {
      const runtime = await create();
      // The first one opens what the others use.
      await runtime.run('true');
      for (const act of [
        () => runtime.run('true'),
        () => runtime.write('a.txt', 'a'),
        () => runtime.read('a.txt'),
      ]) {
        const before = vendor().faults.calls;
        await act();
        expect(vendor().faults.calls - before).toBeLessThanOrEqual(1);
      }
      await runtime.close();
    });

    test('a kept cell that puts something endless in the place of its settings', async () => {
      const first = await create({ keepAlive: true });
      await sh(first, 'ln -sf /dev/zero /tmp/.workcell/cell/settings.json');
      await first.detach();
      await refusal(attachRuntime(first.id, where()), 'cell-not-found');
      for (const id of await vendor().left()) await vendor().end(id);
    });

    test('a wrong key', async () => {
      await refusal(
        createRuntime({ ...place('wrong'), config: false } as CreateRuntimeOptions),
        'unauthorized',
      );
      await refusal(listCells(where('wrong')), 'unauthorized');
      await refusal(attachRuntime('x', where('wrong')), 'unauthorized');
    });

    test('refusals of the vendor', async () => {
      once('create', refused(429, 'quota'));
      await refusal(create(), 'rate-limited');
      once('run', refused(507, 'broken'));
      await refusal(create(), 'backend-unavailable');
      once('run', refused(401, 'the key has expired'));
      // Modal's client gets itself a new token, and goes on.
      await outcome(create(), ['started', 'unauthorized']);
      once('write', refused(507, 'no space'));
      await refusal(create(), 'backend-unavailable');
    });

    test('a vendor that says when to come again', async () => {
      once('create', new Answer(429, { message: 'too many' }, { 'retry-after': '0' }));
      // Some clients wait and go on.
      await outcome(create(), ['started', 'rate-limited']);
    });

    test('answers that the specification forbids', async () => {
      // A client may look for a while for what it believes to be there.
      once('create', new Answer(200, {}));
      await outcome(create(), ['backend-unavailable', 'not-found', 'timed-out']);
      for (const body of strange) {
        once('run', new Answer(200, body));
        await outcome(create(), ['backend-unavailable', 'not-found', 'started']);
      }
    });

    test('a list that fails, that breaks off, and that is none', async () => {
      const listed = (fault: ReturnType<Fault>) =>
        vendor().faults.add(({ path }) => (path.endsWith(list) ? fault : undefined));
      listed(refused(507, 'broken'));
      await refusal(listCells(where()), 'backend-unavailable');
      listed(refused(401, 'the key has expired'));
      await refusal(attachRuntime('x', where()), 'unauthorized');
      listed('cut');
      // Some clients ask again.
      const told = await listCells(where()).catch(({ code }: { code?: string }) => code);
      expect([[], 'backend-unavailable']).toContainEqual(told);
      for (const body of strange) {
        listed(new Answer(200, body));
        // One without entries may pass for an empty one.
        const none = await listCells(where()).catch(({ code }: { code?: string }) => code);
        expect([[], 'backend-unavailable']).toContainEqual(none);
      }
    });

    test('connections that break while a command runs', async () => {
      const runtime = await create();
      const { id } = await runtime.execute({ action: 'start_process', argv: ['cat'], keepStdin: true });
      const waiting = runtime.execute({ action: 'wait_process', id }).then(
        ({ exitCode }) => exitCode,
        ({ code }: { code?: string }) => code,
      );
      await runtime.execute({ action: 'list_processes' });
      vendor().cut();
      // The process goes on, and whoever waits is told, or waits anew.
      await runtime.execute({ action: 'write_process', id, data: 'x', end: true }).catch(() => {});
      expect([0, 'runtime-disconnected']).toContain(await waiting);
      expect((await runtime.run('echo on')).output).toBe('on\n');
      await runtime.close();
    });

    test('a connection that breaks, while something is written and while something runs', async () => {
      once('write', 'cut');
      await outcome(create(), ['started', 'backend-unavailable']);
      once('run', 'cut');
      await outcome(create(), ['started', 'backend-unavailable']);
    });

    if (ready !== undefined)
      test('a sandbox whose start fails, or is not told of, after it was made', async () => {
        for (const fault of [refused(507, 'broken'), 'cut', new Answer(200, {}), 'hang'] as const) {
          const cancelled = new AbortController();
          vendor().faults.add(({ path }) => {
            if (!path.includes(ready)) return undefined;
            if (fault === 'hang') cancelled.abort();
            return fault;
          });
          await outcome(create({ signal: cancelled.signal }), [
            fault === 'hang' ? 'cancelled' : 'backend-unavailable',
            // A client may ask again.
            ...(fault === 'cut' ? ['started'] : []),
          ]);
          // Who cancels does not wait until it is ended.
          await expect.poll(() => vendor().left(), { timeout: 30_000 }).toEqual([]);
        }
      });

    test('a vendor that does not answer, until the start is cancelled', async () => {
      for (const call of ['create', 'run', 'write'] as const) {
        const cancelled = new AbortController();
        once(call, () => {
          cancelled.abort();
          return 'hang';
        });
        await refusal(create({ signal: cancelled.signal }), 'cancelled');
      }
    });

    test('a sandbox whose end fails at first', async () => {
      const runtime = await create();
      once('end', refused(500, 'broken'));
      await runtime.close();
    });

    test('a sandbox that the vendor forgets', async () => {
      const runtime = await create();
      for (const id of await vendor().left()) await vendor().end(id);
      await refusal(runtime.run('true'), 'runtime-disconnected');
      await runtime.close();
    });
  });
}

/** No vendor's specification allows these for anything. */
const strangeJson = [{}, [], 'text', { id: 7, sandboxID: 7, exitCode: 'none', items: 7, devboxes: 7 }];

/** Some clients mend a failure by themselves. */
async function outcome(
  started: Promise<{ close(): Promise<void> }>,
  expected: readonly string[],
): Promise<void> {
  const told = await started.then(
    async (runtime) => {
      await runtime.close();
      return 'started';
    },
    (error: { code?: string }) => error.code,
  );
  expect(expected).toContain(told);
}
