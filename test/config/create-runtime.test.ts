import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { type CreateRuntimeOptions, createRuntime } from '../../src/index.js';
import { withDirectory } from '../cli/workcell.js';

afterEach(() => vi.unstubAllEnvs());

async function withRuntime<T>(
  options: CreateRuntimeOptions,
  use: (runtime: Awaited<ReturnType<typeof createRuntime>>) => Promise<T>,
): Promise<T> {
  await using runtime = await createRuntime(options);
  return await use(runtime);
}

test('the file names backend, workspace and variables, and options in code win over it', () =>
  withDirectory(async (directory) => {
    const config = join(directory, 'workcell.toml');
    writeFileSync(
      config,
      'backend = "cli"\nworkspace = "."\n[sandbox.runtime_startup_env_vars]\nA = "file"\nB = "file"\n',
    );
    await withRuntime({ config }, async (runtime) => {
      expect(runtime).toMatchObject({ backend: 'cli', workspace: directory });
      expect((await runtime.run('echo $A $B')).output).toBe('file file\n');
    });
    const options = { backend: 'cli', config, workspace: '/', env: { B: 'code' } } as const;
    await withRuntime(options, async (runtime) => {
      expect(runtime.workspace).toBe('/');
      expect((await runtime.run('echo $A $B')).output).toBe('file code\n');
    });
  }));

test('a run without limits of its own has those of the configuration', async () => {
  vi.stubEnv('WORKCELL_SANDBOX_TIMEOUT', '0.3');
  await withRuntime({ backend: 'cli' }, async (runtime) => {
    expect((await runtime.run('sleep 1000')).endedBy).toBe('timeout');
    expect((await runtime.run('sleep 0.5', { timeoutMs: 60_000 })).endedBy).toBe('exit');
  });
  vi.stubEnv('WORKCELL_SANDBOX_TIMEOUT', '');
  vi.stubEnv('WORKCELL_SANDBOX_NO_CHANGE_TIMEOUT', '0.3');
  await withRuntime({ backend: 'cli' }, async (runtime) => {
    expect((await runtime.run('sleep 1000')).endedBy).toBe('no-change');
  });
});

test('config false ignores the environment', async () => {
  vi.stubEnv('WORKCELL_NONSENSE', '1');
  await expect(createRuntime({ backend: 'cli' })).rejects.toMatchObject({ code: 'invalid-config' });
  await withRuntime({ backend: 'cli', config: false }, async (runtime) =>
    expect(runtime.backend).toBe('cli'),
  );
});

test('a minimum of isolation in the configuration holds', async () => {
  vi.stubEnv('WORKCELL_MIN_ISOLATION', 'namespace');
  await expect(createRuntime({ backend: 'cli' })).rejects.toMatchObject({ code: 'isolation-too-weak' });
});

test('with none named, the safest backend that can start here is used', async () => {
  await using runtime = await createRuntime({ config: false });
  expect(runtime.backend).toBe('sandbox');
  expect(runtime.isolation.tier).toBe('namespace');
});

test('an unknown backend and a bad option have their own codes', async () => {
  const unknown = { backend: 'nope', config: false } as unknown as CreateRuntimeOptions;
  await expect(createRuntime(unknown)).rejects.toMatchObject({ code: 'backend-unknown' });
  const bad = { backend: 'cli', colour: 'red', config: false } as unknown as CreateRuntimeOptions;
  await expect(createRuntime(bad)).rejects.toMatchObject({ code: 'invalid-config' });
});
