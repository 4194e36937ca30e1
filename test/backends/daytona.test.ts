/** Backend `daytona` through the published client, against a stand-in that really runs what it is asked. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { attachRuntime, createRuntime, listCells, tool } from '../../src/index.js';
import { refusal } from '../../src/testing/contract/given.js';
import { DaytonaStandIn } from './vendors/daytona-stand-in.js';
import { vendorSuite } from './vendors/vendor-suite.js';

const vendor = new DaytonaStandIn();
beforeAll(() => vendor.start());
afterAll(() => vendor.close());

vendorSuite(
  () => vendor,
  (apiKey = vendor.key) => ({ backend: 'daytona', apiKey, apiUrl: `${vendor.url}/api` }),
  {
    pauses: true,
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
