/** How a server process ends, and what becomes of its commands. */
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { startExecutorProcess } from '../../bench/lines/http/server.js';
import { createRuntime } from '../../src/index.js';
import { eventually } from '../contract/given.js';

test.each(['end', 'detach'] as const)('asked to %s its commands, it does so and leaves', async (what) => {
  await using server = await startExecutorProcess(['--on-shutdown', what]);
  const runtime = await createRuntime({
    backend: 'remote',
    url: server.url,
    token: server.token,
    onClose: 'leave',
  });
  const { pid } = await runtime.processes.start(['sleep', '1000']);
  let started = false;
  const onOutput = () => {
    started = true;
  };
  const running = runtime.run('echo started; sleep 1000', { onOutput }).catch((error: unknown) => error);
  await eventually(() => started);
  server.child.kill('SIGTERM');
  expect((await once(server.child, 'exit'))[0]).toBe(0);
  const answer = await running;
  if (what === 'end') {
    expect(answer).toMatchObject({ observation: 'run' });
    expect(isAlive(pid)).toBe(false);
  } else {
    expect(answer).toMatchObject({ code: 'runtime-disconnected' });
    expect(isAlive(pid)).toBe(true);
    process.kill(pid, 'SIGKILL');
    await eventually(() => !isAlive(pid));
  }
  await runtime.close();
});

test('a token can come through a descriptor', async () => {
  const { spawn } = await import('node:child_process');
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', 'src/cli/main.ts', 'executor', '--listen', 'tcp:127.0.0.1:0', '--token-fd', '3'],
    { stdio: ['ignore', 'pipe', 'inherit', 'pipe'] },
  );
  (child.stdio[3] as NodeJS.WritableStream).end('a-token-from-a-descriptor');
  const [line] = await once(child.stdout as NodeJS.ReadableStream, 'data');
  const url = /http:\S+/.exec(String(line))?.[0] ?? '';
  const runtime = await createRuntime({ backend: 'remote', url, token: 'a-token-from-a-descriptor' });
  expect((await runtime.run('ls -l /proc/self/fd')).output).not.toContain('socket:');
  await runtime.close();
  child.kill('SIGTERM');
  await once(child, 'exit');
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
