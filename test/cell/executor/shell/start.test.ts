import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { startShell } from '../../../../src/cell/executor/shell/persistent-bash.js';
import type { ExitStatus, LaunchedPty } from '../../../../src/cell/launchers/launcher.js';
import { refusal } from '../../../../src/testing/contract/given.js';

test('a shell that ends while it starts is no shell, and whoever asked is told', async () => {
  const exits: ExitStatus[] = [];
  const events = {
    onOutput: () => {},
    onReport: () => {},
    onLeave: () => {},
    onExit: (status: ExitStatus) => void exits.push(status),
  };
  const killed: ExitStatus = { exitCode: null, signal: 'SIGKILL' };
  const pty = {
    pid: 7,
    exited: Promise.resolve(killed),
    channel: new PassThrough(),
    onData: () => {},
  } as unknown as LaunchedPty;
  const launcher = { bash: '/bin/bash', openPty: async () => pty };
  const starting = startShell(launcher, { cwd: '/', env: {}, size: { columns: 80, rows: 24 } }, events);
  const error = await refusal(starting, 'spawn-failed');
  expect(error.message).toContain('SIGKILL');
  expect(exits).toEqual([killed]);
});
