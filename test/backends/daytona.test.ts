/** Backend `daytona` through the published client, against a stand-in that really runs what it is asked. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { attachRuntime, createRuntime, listCells, tool } from '../../src/index.js';
import { refusal } from '../../src/testing/contract/given.js';
import { DaytonaStandIn } from './vendors/daytona-stand-in.js';
import { Answer, type Call } from './vendors/stand-in.js';
import { vendorSuite } from './vendors/vendor-suite.js';

/** Can hold a new sandbox back until somebody has asked which ones there are. */
class LateDaytona extends DaytonaStandIn {
  late: 'no' | 'held back' | 'made' = 'no';
  #release = () => {};

  protected override async answer(call: Call): Promise<Answer> {
    if (call.path !== '/api/sandbox' || this.late !== 'held back') return super.answer(call);
    if (call.method === 'POST')
      await new Promise<void>((resolve) => {
        this.#release = resolve;
      });
    const answer = await super.answer(call);
    if (call.method === 'POST') this.late = 'made';
    else this.#release();
    return answer;
  }
}

const vendor = new LateDaytona();
beforeAll(() => vendor.start());
afterAll(() => vendor.close());

vendorSuite(
  () => vendor,
  (apiKey = vendor.key) => ({ backend: 'daytona', apiKey, apiUrl: `${vendor.url}/api` }),
  {
    pauses: true,
    list: '/api/sandbox',
    calls: { create: '/api/sandbox', run: '/execute', write: 'upload', end: '/api/sandbox/' },
    ready: '/api/sandbox/',
  },
);

describe('a kept cell', () => {
  const place = () =>
    ({ backend: 'daytona', apiKey: vendor.key, apiUrl: `${vendor.url}/api`, config: false }) as const;
  const keep = async () => {
    const runtime = await createRuntime({ ...place(), keepAlive: true });
    await runtime.detach();
    const [sandbox] = [...vendor.sandboxes.values()];
    return { id: runtime.id, sandbox };
  };

  test('is deleted when Daytona stops it', async () => {
    const { id, sandbox } = await keep();
    await vendor.stop(sandbox?.id ?? '');
    expect(await listCells(place())).toEqual([]);
    expect(vendor.sandboxes.size).toBe(0);
    await refusal(attachRuntime(id, place()), 'cell-not-found');
  });

  test('that stopped all the same is lost, and not started without its programs', async () => {
    const { id, sandbox } = await keep();
    Object.assign(sandbox ?? {}, { state: 'stopped' });
    expect(await listCells(place())).toMatchObject([{ id, status: 'lost', labels: {} }]);
    await refusal(attachRuntime(id, place()), 'cell-not-found');
    expect(sandbox?.state).toBe('stopped');
    await vendor.end(sandbox?.id ?? '');
  });
});

describe('a start that fails', () => {
  const place = () =>
    ({ backend: 'daytona', apiKey: vendor.key, apiUrl: `${vendor.url}/api`, config: false }) as const;
  const broken = new Answer(507, { message: 'broken' });
  const once = (method: string, answer: Answer) =>
    vendor.faults.add((call) =>
      call.method === method && call.path.startsWith('/api/sandbox/') ? answer : undefined,
    );

  test('ends no kept cell that has the same id', async () => {
    const kept = await createRuntime({ ...place(), id: 'chosenid', keepAlive: true });
    await kept.detach();
    const [sandbox] = await vendor.left();
    once('GET', broken);
    await refusal(createRuntime({ ...place(), id: 'chosenid' }), 'backend-unavailable');
    expect(await vendor.left()).toEqual([sandbox]);
    await (await attachRuntime('chosenid', place())).close();
    expect(await vendor.left()).toEqual([]);
  });

  test('ends its sandbox although the vendor refuses that at first', async () => {
    once('GET', broken);
    once('DELETE', broken);
    await refusal(createRuntime(place()), 'backend-unavailable');
    expect(await vendor.left()).toEqual([]);
  });

  test('ends a sandbox that Daytona makes after the start was cancelled', async () => {
    const cancelled = new AbortController();
    vendor.late = 'held back';
    vendor.faults.add(({ method, path }) => {
      if (method === 'POST' && path === '/api/sandbox') cancelled.abort();
      return method === 'GET' && path.startsWith('/api/sandbox/') ? broken : undefined;
    });
    await refusal(createRuntime({ ...place(), signal: cancelled.signal }), 'cancelled');
    await expect.poll(() => vendor.late, { timeout: 30_000 }).toBe('made');
    await expect.poll(() => vendor.left(), { timeout: 30_000 }).toEqual([]);
  });
});

test('a tool runs in the sandbox, and its results and errors come back', async () => {
  const place = {
    backend: 'daytona',
    apiKey: vendor.key,
    apiUrl: `${vendor.url}/api`,
    config: false,
  } as const;
  await using runtime = await createRuntime(place);
  const add = tool({
    name: 'add',
    description: 'Adds two numbers.',
    parameters: z.object({ a: z.number(), b: z.number() }),
    execute: ({ a, b }, { runtime }) => {
      if (a < 0) throw new Error('too small');
      return { sum: a + b, inside: runtime?.workspace };
    },
  });
  const [inside] = runtime.add(add).getTools();
  expect(await inside?.execute({ a: 1, b: 2 })).toEqual({ sum: 3, inside: runtime.workspace });
  await refusal(Promise.resolve(inside?.execute({ a: -1, b: 2 })), 'tool-failed');
});
