import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { loadBackend } from '../../src/backends/index.js';
import { type CreateRuntimeOptions, createRuntime, type ErrorCode, WorkcellError } from '../../src/index.js';
import { withDirectory } from '../cli/workcell.js';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

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

describe('with none named', () => {
  /** A sandbox refuses its first start, as on a machine without namespaces. */
  async function refusing(code: ErrorCode) {
    const sandbox = await loadBackend('sandbox');
    const docker = await loadBackend('docker');
    const start = sandbox.start.bind(sandbox);
    vi.spyOn(sandbox, 'start').mockRejectedValueOnce(new WorkcellError(code, 'It cannot.'));
    return { sandbox, docker, start };
  }
  const lacking = (summary: string) => ({ available: false, tier: 'none', summary, advice: [] }) as const;

  test('no cell starts only to look whether it can', async () => {
    const sandbox = await loadBackend('sandbox');
    const [start, probe] = [vi.spyOn(sandbox, 'start'), vi.spyOn(sandbox, 'probe')];
    await withRuntime({ config: false }, (runtime) => runtime.run('true'));
    expect([start.mock.calls.length, probe.mock.calls.length]).toEqual([1, 0]);
  });

  test.each([
    'backend-unavailable',
    'isolation-too-weak',
    'capability-unsupported',
    'shell-missing',
    'invalid-config',
  ] as const)(
    'the next one starts where the first fails with %s, and the record tells of no error',
    async (code) => {
      const { facts = [], tier } = await (await loadBackend('sandbox')).probe();
      const { sandbox, docker, start } = await refusing(code);
      vi.spyOn(sandbox, 'probe').mockResolvedValue(lacking('No namespaces.'));
      vi.spyOn(docker, 'probe').mockResolvedValue({ ...lacking(''), available: true, tier, facts });
      const begun = vi.spyOn(docker, 'start').mockImplementation((_, context) => start({}, context));
      const seen: string[] = [];
      const onStatus = ({ status, message }: { status: string; message: string }) =>
        void seen.push(`${status} ${message}`);
      await withRuntime({ config: false, onStatus }, (runtime) => runtime.run('true'));
      expect(begun).toHaveBeenCalledOnce();
      expect(seen.filter((line) => line.startsWith('ERROR'))).toEqual([]);
    },
  );

  test('a start that was cancelled is not tried elsewhere', async () => {
    const { sandbox } = await refusing('cancelled');
    const probe = vi.spyOn(sandbox, 'probe');
    await expect(createRuntime({ config: false })).rejects.toMatchObject({ code: 'cancelled' });
    expect(probe).not.toHaveBeenCalled();
  });

  test('the error says what each lacks', async () => {
    const { sandbox, docker } = await refusing('backend-unavailable');
    vi.spyOn(sandbox, 'probe').mockResolvedValue(lacking('No namespaces.'));
    vi.spyOn(docker, 'probe').mockResolvedValue(lacking('No engine.'));
    await expect(createRuntime({ config: false })).rejects.toMatchObject({
      code: 'backend-unavailable',
      message: expect.stringMatching(/sandbox: No namespaces\..*docker: No engine\./s),
    });
  });

  test.each(['backend-unavailable', 'spawn-failed'] as const)(
    'a failure with %s of one that can start is told as it is',
    async (code) => {
      await refusing(code);
      await expect(createRuntime({ config: false })).rejects.toMatchObject({ code, message: 'It cannot.' });
    },
  );
});

test('an unknown backend and a bad option have their own codes', async () => {
  const unknown = { backend: 'nope', config: false } as unknown as CreateRuntimeOptions;
  await expect(createRuntime(unknown)).rejects.toMatchObject({ code: 'backend-unknown' });
  const bad = { backend: 'cli', colour: 'red', config: false } as unknown as CreateRuntimeOptions;
  await expect(createRuntime(bad)).rejects.toMatchObject({ code: 'invalid-config' });
});
