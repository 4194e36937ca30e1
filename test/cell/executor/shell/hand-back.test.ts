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
