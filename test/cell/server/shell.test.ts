import { expect, test } from 'vitest';
import { authorized, serve } from './serve.js';

test('a shell is there before the first command, which runs in it', async () => {
  await using served = await serve();
  const act = async (payload: object) =>
    (
      await served.server.app.inject({ method: 'POST', url: '/v1/actions', headers: authorized, payload })
    ).json();
  const processes = async () => (await act({ action: 'stats' })).processes;
  await expect.poll(processes, { timeout: 30_000 }).toBe(1);
  expect(await act({ action: 'run', command: 'true' })).toMatchObject({ exitCode: 0 });
  expect(await processes()).toBe(1);
});

test('an executor that follows a closed one starts no shell by itself', async () => {
  await using served = await serve();
  const ask = (method: 'GET' | 'POST', url: string, payload?: object) =>
    served.server.app.inject({ method, url, headers: authorized, ...(payload && { payload }) });
  await ask('POST', '/v1/close');
  expect((await ask('GET', '/v1/stats')).json()).toMatchObject({ cell: { processes: 0 } });
});
