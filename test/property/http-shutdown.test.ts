/** How a server process ends, and what becomes of its commands. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { startExecutorProcess } from '../../bench/lines/http/server.js';
import { createRuntime } from '../../src/index.js';
import { eventually } from '../../src/testing/contract/given.js';
import { builtFile } from '../built-file.js';

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

test('killed in the middle of a stream, it is reported as gone, and all it started ends with it', async () => {
  await using server = await startExecutorProcess();
  const runtime = await createRuntime({ backend: 'remote', url: server.url, token: server.token });
  const { pid } = await runtime.processes.start(['sleep', '1000']);
  await runtime.run('mkfifo told');
  await runtime.run("setsid sh -c 'echo $$ > told; exec sleep 1000' > /dev/null 2>&1 & disown -a");
  const daemon = Number((await runtime.run('cat told')).output);
  expect([pid, daemon].map(isAlive)).toEqual([true, true]);
  let shell = 0;
  const onOutput = ({ text }: { text: string }) => {
    shell ||= Number.parseInt(text, 10);
  };
  const running = runtime.run('echo $$; yes', { onOutput });
  running.catch(() => {});
  await eventually(() => shell > 0, 'the stream begins');
  server.child.kill('SIGKILL');
  await expect(running).rejects.toMatchObject({ code: 'runtime-disconnected' });
  await expect(runtime.run('true')).rejects.toMatchObject({ code: 'runtime-disconnected' });
  for (const started of [shell, pid, daemon])
    await eventually(() => !isAlive(started), `process ${started} ends`);
  await runtime.close();
});

test('a client that is killed in the middle of a stream costs the server nothing but its command', async () => {
  await using server = await startExecutorProcess();
  const program = `import { createRuntime } from './src/index.ts';
    const runtime = await createRuntime({ backend: 'remote', url: '${server.url}', token: process.env.TOKEN });
    await runtime.run('echo $$ > shell; yes', { onOutput: () => process.stdout.write('.') });`;
  const client = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TOKEN: server.token },
  });
  await once(client.stdout, 'data');
  client.kill('SIGKILL');
  await once(client, 'exit');
  await using runtime = await createRuntime({ backend: 'remote', url: server.url, token: server.token });
  const shell = Number((await runtime.read('shell')).content);
  expect(isAlive(shell)).toBe(true);
  expect((await runtime.run('echo served', { session: 'other' })).output).toBe('served\n');
});

test('a token can come through a descriptor', async () => {
  const child = spawn(
    process.execPath,
    [builtFile('cli/main.cjs'), 'executor', '--listen', 'tcp:127.0.0.1:0', '--token-fd', '3'],
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
