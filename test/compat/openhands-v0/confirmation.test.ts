/** Actions that wait for a person, were refused by one, or are refused by a judge. */
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WorkcellError } from '../../../src/protocol/index.js';
import { startServer, type TestServer } from './server.js';

const judged: unknown[] = [];
let server: TestServer;
beforeAll(() => {
  server = startServer({
    judge: async (action, risk) => {
      judged.push({ action: action.action, command: action.command, risk });
      if (risk === 'high') throw new WorkcellError('denied', 'It was refused (risk high).');
    },
  });
});
afterAll(() => server[Symbol.asyncDispose]());

test.each(['confirmation_state', 'is_confirmed'])('%s decides whether an action runs', async (key) => {
  const touch = (name: string, state: string) => server.run(`touch ${server.path(name)}`, { [key]: state });
  expect(await touch('waiting', 'awaiting_confirmation')).toEqual({
    observation: 'null',
    content: '',
    extras: {},
    message: '',
  });
  expect(await touch('rejected', 'rejected')).toMatchObject({ observation: 'user_rejected', extras: {} });
  expect(await touch('confirmed', 'confirmed')).toMatchObject({ observation: 'run', success: true });
  const made = ['waiting', 'rejected', 'confirmed'].map((name) => existsSync(server.path(name)));
  expect(made).toEqual([false, false, true]);
  await expect(touch('other', 'perhaps')).rejects.toThrow(/^400/);
});

test('the risk that a client states is heard by the judge, and one that is none is not given', async () => {
  judged.length = 0;
  for (const security_risk of [-1, 0, 1, 'nonsense', null]) await server.run('true', { security_risk });
  expect(judged).toMatchObject([
    { action: 'run', command: 'true', risk: undefined },
    { risk: 'low' },
    { risk: 'medium' },
    { risk: undefined },
    { risk: undefined },
  ]);
  expect(await server.run('true', { security_risk: 2 })).toMatchObject({
    observation: 'error',
    content: 'It was refused (risk high).',
  });
});
