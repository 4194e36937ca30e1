/** Cells that outlive who started them, through the public surface alone: found, attached to, handed on, ended. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Docker from 'dockerode';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  attachRuntime,
  type CreateRuntimeOptions,
  createRuntime,
  listCells,
  type Runtime,
  tool,
} from '../../src/index.js';
import { refusal, sh } from '../contract/given.js';
import { dockerEngine, images } from '../engines/docker.js';

const { host: engine } = await dockerEngine();
const label = randomBytes(8).toString('hex');

const kinds = {
  local: { options: { backend: 'local' }, place: {}, tier: 'none', labels: undefined },
  docker: {
    options: { backend: 'docker', engine, image: images.tools, labels: { 'test.kept': label } },
    place: { engine },
    tier: 'container',
    labels: { 'test.kept': label },
  },
  'ubuntu-docker': {
    options: { backend: 'ubuntu-docker', engine, image: images.tools },
    place: { engine },
    tier: 'container',
    labels: {},
  },
} as const;

const opened: Runtime[] = [];
const started = new Set<string>();

/** What a failed test has not ended would stay for good. */
afterEach(async () => {
  for (const runtime of opened.splice(0)) await runtime.close();
  const left = (await listCells({ engine, config: false })).filter(({ id }) => started.has(id));
  for (const { id } of left) await (await attachRuntime(id, { engine, config: false })).close();
  started.clear();
});

describe.each(Object.entries(kinds))(
  'a kept cell of backend %s',
  (backend, { options, place, tier, labels }) => {
    const start = { ...options, config: false, keepAlive: true } as CreateRuntimeOptions;
    const here = { ...place, config: false } as const;

    test('outlives the kill of its owner, is listed, and goes on where it was', async () => {
      const { child, id } = await startOwner(start);
      expect(await infoOf(id)).toMatchObject({ heldBy: child.pid });
      await refusal(attachRuntime(id, here), 'cell-in-use');
      child.kill('SIGKILL');
      await once(child, 'exit');

      const info = await infoOf(id);
      expect(info).toMatchObject({ id, backend, status: 'running', isolation: tier });
      expect(info?.heldBy).toBeUndefined();
      expect(info?.labels).toEqual(labels);
      expect(Math.abs(Date.now() - (info?.startedAt?.getTime() ?? 0))).toBeLessThan(600_000);
      expect(existsSync(info?.workspace ?? '')).toBe(true);

      const runtime = await attach(id, here);
      expect(runtime).toMatchObject({ id, backend });
      expect(runtime.isolation.tier).toBe(tier);
      expect(await sh(runtime, 'pwd | grep -o deep; echo "$KEPT"; cat note')).toBe(
        'deep\nstate\nfrom before\n',
      );
      const [entry] = (await runtime.processes.list()).filter(({ argv }) => argv.includes('1000'));
      expect(entry?.running).toBe(true);
      await runtime.close();
      await runtime.close();

      expect(await infoOf(id)).toBeUndefined();
      expect(existsSync(info?.workspace ?? '')).toBe(false);
      expect(await leftOf(id)).toEqual([]);
      await refusal(attachRuntime(id, here), 'cell-not-found');
    });

    test('is handed on with detach, with its record, and under the policy of who attaches', async () => {
      const directory = mkdtempSync(join(tmpdir(), 'kept-'));
      const events = { store: `sqlite:${join(directory, 'events.db')}` };
      const first = await create({ ...start, events });
      const { id } = first;
      try {
        await sh(first, 'cd /tmp && echo first');
        await first.detach();
        await first.detach();
        await first.close();
        expect(first.status).toBe('DETACHED');
        await refusal(first.run('true'), 'runtime-closed');

        const greet = tool({
          name: 'greet',
          description: 'Greets.',
          parameters: z.object({}),
          execute: () => 'hello',
        });
        const policy = { rules: [{ command: 'echo forbidden', decision: 'deny' }] } as const;
        const second = await attach(id, { ...here, backend: backend as 'local', events, policy });
        second.add(greet);
        expect(await sh(second, 'pwd')).toBe('/tmp\n');
        expect((await second.callTool('greet')).result).toBe('hello');
        await refusal(second.run('echo forbidden'), 'denied');
        await second.detach();

        const third = await attach(id, { ...here, events });
        await third.close();
        const kept: string[] = [];
        const ids: number[] = [];
        for await (const event of third.events) {
          ids.push(event.id);
          if (event.kind === 'status') kept.push(event.status.status);
        }
        expect(ids).toEqual(ids.map((_, index) => index + 1));
        expect(kept.filter((status) => /DETACHED|STOPPED|READY/.test(status))).toEqual([
          'READY',
          'DETACHED',
          'READY',
          'DETACHED',
          'READY',
          'STOPPED',
        ]);
      } finally {
        rmSync(directory, { recursive: true });
      }
      expect(await leftOf(id)).toEqual([]);
    });

    test('is left as it is when the isolation that is demanded is not there', async () => {
      const first = await create(start);
      await first.detach();
      await refusal(attachRuntime(first.id, { ...here, minIsolation: 'vm' }), 'isolation-too-weak');
      const second = await attach(first.id, here);
      expect(await sh(second, 'echo alive')).toBe('alive\n');
      await refusal(attachRuntime(first.id, here), 'cell-in-use');
      await second.close();
      expect(await leftOf(first.id)).toEqual([]);
    });

    async function infoOf(id: string) {
      return (await listCells(here)).find((cell) => cell.id === id);
    }
  },
);

test('a docker cell is paused, found paused, and goes on when attached to', async () => {
  const { options, place } = kinds.docker;
  const ports = [{ container: 8000 }];
  const first = await create({ ...options, network: 'bridge', ports, config: false, keepAlive: true });
  const { id } = first;
  await first.pause();
  const waiting = first.run('echo waited');
  await first.resume();
  expect((await waiting).output).toBe('waited\n');
  await first.pause();
  await first.detach();
  const [info] = (await listCells({ ...place, config: false, backend: 'docker' })).filter((c) => c.id === id);
  expect(info?.status).toBe('paused');
  const second = await attach(id, { ...place, config: false });
  expect(await sh(second, 'echo goes on')).toBe('goes on\n');
  expect(second.ports.published).toEqual(first.ports.published);
  await second.close();
});

describe('what cannot be', () => {
  test('an unknown id, and backends that are not there, are told', async () => {
    const error = await refusal(
      attachRuntime('0123456789abcdef', { engine: 'unix:///nowhere/docker.sock', config: false }),
      'cell-not-found',
    );
    expect(error.message).toContain('keepAlive');
    expect(error.message).toContain('/nowhere/docker.sock');
    const unavailable: string[] = [];
    await listCells({
      engine: 'unix:///nowhere/docker.sock',
      config: false,
      onUnavailable: (backend) => unavailable.push(backend),
    });
    expect(unavailable.sort()).toEqual(['docker', 'ubuntu-docker']);
    const one = { backend: 'docker', engine: 'unix:///nowhere/docker.sock', config: false } as const;
    await refusal(listCells(one), 'backend-unavailable');
  });

  test('backends that keep nothing say which do', async () => {
    const attached = await refusal(
      attachRuntime('x', { backend: 'cli', config: false }),
      'capability-unsupported',
    );
    expect(attached.message).toContain('docker, local, ubuntu-docker');
    await refusal(listCells({ backend: 'sandbox', config: false }), 'capability-unsupported');
    const asked = { backend: 'cli', keepAlive: true, config: false } as CreateRuntimeOptions;
    await refusal(createRuntime(asked), 'capability-unsupported');
    await using runtime = await createRuntime({ backend: 'local', config: false });
    await refusal(runtime.detach(), 'capability-unsupported');
    await refusal(runtime.pause(), 'capability-unsupported');
    expect(await sh(runtime, 'echo unharmed')).toBe('unharmed\n');
  });
});

async function create(options: CreateRuntimeOptions): Promise<Runtime> {
  const runtime = await createRuntime(options);
  started.add(runtime.id);
  opened.push(runtime);
  return runtime;
}

async function attach(...parts: Parameters<typeof attachRuntime>): Promise<Runtime> {
  const runtime = await attachRuntime(...parts);
  opened.push(runtime);
  return runtime;
}

/** Another process that starts a cell, works in it, says so, and waits. */
async function startOwner(options: object): Promise<{ child: ChildProcess; id: string }> {
  const program = `
    import { createRuntime } from './src/index.ts';
    const runtime = await createRuntime(${JSON.stringify(options)});
    await runtime.run('export KEPT=state; mkdir deep; cd deep; echo from before > note');
    await runtime.processes.start(['sleep', '1000']);
    console.log(runtime.id);
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program], {
    cwd: new URL('../..', import.meta.url),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const id = String(line).trim();
  started.add(id);
  return { child, id };
}

/** Directories, processes and containers that carry the id. */
async function leftOf(id: string): Promise<string[]> {
  const homes = [process.env.XDG_RUNTIME_DIR, tmpdir()]
    .filter((path) => path !== undefined && path !== '')
    .flatMap((path) => readdirSync(path as string).map((name) => join(path as string, name, id)))
    .filter((path) => existsSync(path));
  const client = new Docker({ socketPath: engine.slice('unix://'.length) });
  const containers = await client.listContainers({ all: true, filters: { label: [`workcell.id=${id}`] } });
  return [...homes, ...containers.map(({ Id }) => Id)];
}
