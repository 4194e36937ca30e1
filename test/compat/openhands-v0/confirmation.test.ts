/** Actions that wait for a person, that a person refused, or that a judge refuses. */
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openHandsPlugins } from '../../../src/compat/openhands-v0/openhands-plugins.js';
import { createRuntime } from '../../../src/index.js';
import { rules } from '../../../src/runtime/security/analyzers/rules.js';
import { serve, type TestServer } from './server.js';

const judged: { action: string; command: unknown; risks: unknown[] }[] = [];
let server: TestServer;
beforeAll(async () => {
  const runtime = await createRuntime({
    backend: 'cli',
    files: 'machine',
    config: false,
    events: { store: 'memory' },
    policy: {
      analyzers: [{ name: 'calm', analyze: () => ({ risk: 'low', reasons: [] }) }],
      onRisk: { medium: 'allow' },
      onDecision: ({ action, verdicts }) =>
        judged.push({
          action: action.action,
          command: action.command,
          risks: verdicts.filter(({ analyzer }) => analyzer === 'caller').map(({ risk }) => risk),
        }),
    },
  });
  server = serve(runtime, runtime.workspace);
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

test('the risk that a client states is heard by the policy, and one that is none is not given', async () => {
  judged.length = 0;
  for (const security_risk of [-1, 0, 1, 'nonsense', null]) await server.run('true', { security_risk });
  expect(judged.filter(({ command }) => command === 'true').map(({ risks }) => risks)).toEqual([
    [],
    ['low'],
    ['medium'],
    [],
    [],
  ]);
  expect(await server.run('true', { security_risk: 2 })).toMatchObject({
    observation: 'error',
    content: expect.stringContaining('was refused (risk high'),
  });
  const path = server.path('never');
  await server.act('write', { path, content: 'x', security_risk: 2 });
  expect(existsSync(path)).toBe(false);
});

test('a policy that refuses what it cannot tell the risk of leaves a server that works', async () => {
  const runtime = await createRuntime({
    backend: 'cli',
    files: 'machine',
    config: false,
    events: { store: 'memory' },
    guards: [rules({})],
    policy: { onRisk: { low: 'allow', medium: 'deny', high: 'deny', unknown: 'deny' } },
  });
  await using strict = serve(runtime, runtime.workspace);
  expect(await strict.run('echo hi')).toMatchObject({
    content: 'hi',
    extras: { metadata: { exit_code: 0 } },
  });
  expect(await strict.run('echo there', { is_static: true })).toMatchObject({ content: 'there' });
  expect(await strict.run('exit')).toMatchObject({ observation: 'run' });
  expect(await strict.run('echo again')).toMatchObject({ content: 'again' });
  expect(await strict.run('eval "$(cat x)"')).toMatchObject({ observation: 'error' });
});

test('what the rules refuse in a command, they refuse in a code cell and in a server that a client adds', async () => {
  const runtime = await createRuntime({
    backend: 'cli',
    files: 'machine',
    config: false,
    events: { store: 'memory' },
    plugins: openHandsPlugins({ agentSkills: false }),
    guards: [rules()],
  });
  await using guarded = serve(runtime, runtime.workspace);
  const made = guarded.path('made');
  const dangerous = `touch ${made}; cat ~/.ssh/id_rsa`;
  expect(await guarded.run(dangerous)).toMatchObject({ observation: 'error' });
  for (const code of [`!${dangerous}`, `%%bash\n${dangerous}`])
    expect(await guarded.act('run_ipython', { code })).toMatchObject({ observation: 'error' });
  const server = { name: 'added', command: 'sh', args: ['-c', dangerous], env: {} };
  const added = await guarded.request({ method: 'POST', url: '/update_mcp_server', payload: [server] });
  expect(added.body).toMatchObject({ detail: expect.stringContaining('was refused') });
  expect(existsSync(made)).toBe(false);
});
