import { expect, test } from 'vitest';
import { createRuntime } from '../../../../src/index.js';

test('handBackMs returns while the command prints on, leaves it alive, and later waits continue', async () => {
  await using runtime = await createRuntime({ config: false, backend: 'cli' });
  const execute = (command: string, options = {}) => runtime.execute({ action: 'run', command, ...options });
  const begun = performance.now();
  const first = await execute('while [ ! -e stop ]; do echo tick; sleep 0.02; done; echo end', {
    handBackMs: 300,
    noChangeTimeoutMs: 60_000,
  });
  expect(performance.now() - begun).toBeGreaterThanOrEqual(299);
  expect(first).toMatchObject({ endedBy: 'no-change', exitCode: null });
  expect(first.output).toMatch(/^(tick\n)+$/);
  const second = await execute('', { handBackMs: 1 });
  expect(second).toMatchObject({ endedBy: 'no-change', exitCode: null });
  await runtime.write('stop', '');
  const last = await execute('', { handBackMs: 60_000 });
  expect(last).toMatchObject({ endedBy: 'exit', exitCode: 0 });
  expect(last.output).toMatch(/^(tick\n)*end\n$/);
});

test('handBackMs has no say once the command is being ended', async () => {
  await using runtime = await createRuntime({ config: false, backend: 'cli' });
  const ended = await runtime.execute({
    action: 'run',
    command: 'trap "" INT; sleep 60',
    timeoutMs: 50,
    handBackMs: 60,
  });
  expect(ended.endedBy).toBe('timeout');
});

test('an empty command shows what is there at once, also while somebody else waits', async () => {
  await using runtime = await createRuntime({ config: false, backend: 'cli' });
  const gate = 'mkfifo gate; echo before; read -r word < gate; echo "got $word"';
  const { promise: seen, resolve } = deferred();
  const onOutput = ({ text }: { text: string }) => (text.includes('before') ? resolve() : undefined);
  const waiting = runtime.run(gate, { onOutput });
  await seen;
  // Nothing opens the gate until both have answered.
  expect(await runtime.run('')).toMatchObject({ output: 'before\n', exitCode: null, endedBy: 'no-change' });
  expect(await runtime.run('', { handBackMs: 60_000 })).toMatchObject({ output: 'before\n', exitCode: null });
  await runtime.run('echo word > gate', { session: 'other' });
  expect(await waiting).toMatchObject({ output: 'before\ngot word\n', exitCode: 0, endedBy: 'exit' });
  await expect(runtime.run('')).rejects.toMatchObject({ code: 'session-not-running' });
});

function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
