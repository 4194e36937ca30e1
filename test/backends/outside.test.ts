/**
 * A backend that is not of this package: `examples/backend`, installed as a package of its own. It is started, listed,
 * attached to, configured and typed like any other.
 *
 * Its contract has the same behaviours as those of this package and takes minutes, nearly all of which is the same executor
 * doing the same again. So each run shows one behaviour of each group that depends on the place (processes, terminals, ports,
 * files, uploads, the life of a cell), and `npm run contract:outside` shows all of them.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import type nsenter from '../../examples/backend/index.js';
import { attachRuntime, type CreateRuntimeOptions, createRuntime, listCells } from '../../src/index.js';
import { parseAction } from '../../src/protocol/index.js';
import { eventually, refusal, sh } from '../../src/testing/contract/given.js';
import { contractTests, type RequirementId } from '../../src/testing/index.js';
import { builtFile } from '../built-file.js';
import { workcell } from '../cli/workcell.js';
import { readText } from '../house/source.js';
import { installBackend } from './outside-package.js';

const outside = installBackend();
afterAll(() => outside[Symbol.dispose]());
const { file, directory, folder } = outside;
const address = pathToFileURL(file).href;
const load = async () => (await import(address)).default as typeof nsenter;

const shown: readonly RequirementId[] = [
  'shell.exit-code',
  'input.interrupt',
  'limits.timeout-double-fork',
  'files.list',
  'transfer.file',
  'processes.signal',
  'ports.forward',
  'terminals.session',
  'runtime.close-ends-all',
  'runtime.min-isolation',
  'refused.unknown-option',
];

describe('its contract', () => {
  const all = contractTests({ backend: file, directory }, { traits: ['limited-tree', 'kernels'] });
  const chosen = all.filter(({ id }) => process.env.WHOLE_CONTRACT === '1' || shown.includes(id));
  for (const { title, run } of chosen) test(title, run);
});

test('the example is short', () => {
  expect(readText('examples/backend/index.js').split('\n').length - 1).toBeLessThan(150);
});

describe('in code', () => {
  test('it is asked for by its file or as an object, and a cell that is kept is listed and attached to', async () => {
    const backend = await load();
    const options = { backend, directory, keepAlive: true, config: false } as const;
    const first = await createRuntime(options);
    expect(first).toMatchObject({ backend: 'nsenter', isolation: { tier: 'none' } });
    expect(first.isolation.facts.some(({ enforced }) => enforced)).toBe(false);
    expect(
      await sh(first, 'echo $$; cd /; export STAGE=one; tail -n +3 /proc/net/dev | cut -d : -f 1'),
    ).toMatch(/^\d+\n +lo\n$/);
    const place = { directory, config: false } as const;
    const [held] = await listCells({ ...place, backend });
    expect(held).toMatchObject({
      id: first.id,
      backend: 'nsenter',
      place: { directory },
      heldBy: process.pid,
    });
    await refusal(attachRuntime(first.id, { ...place, backend }), 'cell-in-use');
    await first.detach();

    const [kept] = await listCells({ ...place, backend: file });
    expect(kept).toMatchObject({ id: first.id, backend: address, status: 'running', isolation: 'none' });
    expect(kept?.heldBy).toBeUndefined();
    const ref = JSON.parse(JSON.stringify(kept));
    const second = await attachRuntime(ref, { config: false });
    expect(await sh(second, 'pwd; echo $STAGE')).toBe('/\none\n');
    await second.close();
    expect(await listCells({ ...place, backend })).toEqual([]);
    expect(readdirSync(directory)).toEqual([]);
    await refusal(attachRuntime(first.id, { ...place, backend }), 'cell-not-found');
  });

  test('a cell that was killed is lost, and attaching to it removes what it left', async () => {
    const place = { backend: file, directory, config: false } as const;
    const runtime = await createRuntime({ ...place, keepAlive: true });
    await runtime.detach();
    const { pid } = JSON.parse(readFileSync(join(directory, runtime.id, 'state.json'), 'utf8'));
    process.kill(pid, 'SIGKILL');
    await eventually(async () => (await listCells(place))[0]?.status === 'lost', 'it is lost');
    await refusal(attachRuntime(runtime.id, place), 'runtime-disconnected');
    expect(readdirSync(directory)).toEqual([]);
  });

  test('a start that fails leaves nothing', async () => {
    const signal = AbortSignal.timeout(1);
    await expect(createRuntime({ backend: file, directory, signal, config: false })).rejects.toThrow();
    expect(existsSync(directory) ? readdirSync(directory) : []).toEqual([]);
  });

  test('its executor is reached through any stream of bytes', async () => {
    const backend = await load();
    const runtime = await createRuntime({ backend, directory, keepAlive: true, config: false });
    await sh(runtime, 'export STAGE=one');
    const home = join(directory, runtime.id);
    const { pid, token } = JSON.parse(readFileSync(join(home, 'state.json'), 'utf8'));
    const kit: typeof import('../../src/backends/backend-kit.js') = await import(
      pathToFileURL(builtFile('backends/backend-kit.js')).href
    );
    const argv = ['--target', String(pid), '--all', '--', ...kit.executorCommand(), 'relay', join(home, 's')];
    const relay = spawn('nsenter', argv, { stdio: ['pipe', 'pipe', 'inherit'] });
    const tunnel = kit.openTunnel(Duplex.from({ readable: relay.stdout, writable: relay.stdin }));
    const context = { id: runtime.id, onStatus: () => {} };
    const { executor } = await kit.reachExecutor({ connect: tunnel.connect }, { token }, context);
    const command = { action: 'run', command: 'echo $STAGE' } as const;
    expect(await executor.execute(parseAction(command))).toMatchObject({ output: 'one\n', exitCode: 0 });
    await executor.disconnect();
    tunnel.close();
    await runtime.close();
  });

  test('its options are typed by its package, and those of a file are checked when it starts', () => {
    const named = 'workcell-backend-nsenter';
    const good: CreateRuntimeOptions[] = [
      { backend: named, directory, network: 'machine' },
      { backend: file, whatever: true },
      { backend: './backend.js' },
    ];
    expect(good).toHaveLength(3);
    // @ts-expect-error
    expect({ backend: named, network: 'other' } satisfies CreateRuntimeOptions).toBeTruthy();
    // @ts-expect-error
    expect({ backend: named, colour: 'red' } satisfies CreateRuntimeOptions).toBeTruthy();
    // @ts-expect-error
    expect({ backend: 'workcell-backend-other' } satisfies CreateRuntimeOptions).toBeTruthy();
    // @ts-expect-error
    expect({ backend: 'cli', whatever: true } satisfies CreateRuntimeOptions).toBeTruthy();
    const object = (backend: typeof nsenter) => [
      () => createRuntime({ backend, network: 'none' }),
      // @ts-expect-error
      () => createRuntime({ backend, network: 'other' }),
      () => listCells({ backend: named, directory }),
      // @ts-expect-error
      () => listCells({ backend: named, directory: 7 }),
    ];
    expect(object).toBeTypeOf('function');
  });
});

describe('on the command line', () => {
  const place = ['--backend', 'workcell-backend-nsenter', '--directory', directory];
  // Workcell looks for a package from the configuration directory.
  const cli = (...args: string[]) => workcell(args, { cwd: '/', env: { XDG_CONFIG_HOME: folder } });

  test('its flags are there, and its cells are kept, listed, gone on in and ended', async () => {
    const help = await cli('run', ...place.slice(0, 2), '--help');
    expect(help.stdout).toMatch(/Options of backend nsenter:\s+--network <value> .*\n\s+--directory <value>/);
    const started = await cli(
      'run',
      ...place,
      '--network',
      'machine',
      '--keep-alive',
      'export STAGE=one; cd /',
    );
    expect(started).toMatchObject({ exitCode: 0 });
    const [, id = ''] = /cell (\w+) goes on/.exec(started.stderr) ?? [];
    const listed = JSON.parse((await cli('cells', ...place, '--json')).stdout);
    expect(listed).toMatchObject([{ id, status: 'running', place: { directory } }]);
    const again = await cli('run', ...place, '--attach', id.slice(0, 6), 'pwd; echo $STAGE');
    expect(again).toEqual({ stdout: '/\none\n', stderr: '', exitCode: 0 });
    expect(await cli('cells', 'stop', ...place, id)).toEqual({ stdout: `${id}\n`, stderr: '', exitCode: 0 });
    expect(readdirSync(directory)).toEqual([]);
  });

  test('a configuration that names it is enough for all commands, and doctor shows it', async () => {
    const config = join(folder, 'own.toml');
    writeFileSync(
      config,
      `backend = "workcell-backend-nsenter"\n[backends.nsenter]\ndirectory = "${directory}"\n`,
    );
    const env = { WORKCELL_CONFIG: config, DOCKER_HOST: `unix://${folder}/none.sock` };
    const configured = (...args: string[]) => workcell(args, { cwd: '/', env });
    const started = await configured('run', '--keep-alive', 'true');
    const [, id = ''] = /cell (\w+) goes on/.exec(started.stderr) ?? [];
    const { stdout } = await configured('cells');
    expect(stdout).toMatch(new RegExp(`^${id} +${file} +running`, 'm'));
    expect((await configured('cells', 'stop', id)).exitCode).toBe(0);
    const { backends } = JSON.parse((await configured('doctor', '--json')).stdout);
    expect(backends.nsenter).toMatchObject({ available: true, tier: 'none' });
  });
});
