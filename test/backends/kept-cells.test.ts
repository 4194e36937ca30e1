/** Cells that outlive who started them, through the public surface alone: found, attached to, handed on, ended. */
import { randomBytes } from 'node:crypto';
import Docker from 'dockerode';
import { describe, expect, test } from 'vitest';
import { attachRuntime, type CreateRuntimeOptions, createRuntime, listCells } from '../../src/index.js';
import { refusal, sh } from '../../src/testing/contract/given.js';
import { dockerEngine, images } from '../engines/docker.js';
import { attach, create, keptCellSuite } from './kept/suite.js';

const { host: engine } = await dockerEngine();
const label = randomBytes(8).toString('hex');

/** Containers that carry the id. */
async function left(id: string): Promise<string[]> {
  const client = new Docker({ socketPath: engine.slice('unix://'.length) });
  const containers = await client.listContainers({ all: true, filters: { label: [`workcell.id=${id}`] } });
  return containers.map(({ Id }) => Id);
}

const docker = {
  options: { backend: 'docker', engine, image: images.tools, labels: { 'test.kept': label } },
  place: { engine },
  tier: 'container',
  labels: { 'test.kept': label },
  left,
} as const;

keptCellSuite('local', { options: { backend: 'local' }, place: {}, tier: 'none', labels: undefined });
keptCellSuite('docker', docker);
keptCellSuite('ubuntu-docker', {
  options: { backend: 'ubuntu-docker', engine, image: images.tools },
  place: { engine },
  tier: 'container',
  labels: {},
  left,
});

test('a docker cell is paused, found paused, and goes on when attached to', async () => {
  const { options, place } = docker;
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

  test('what does not say where cells of a backend are is refused', async () => {
    const elsewhere = { backend: 'local', engine: 'unix:///nowhere/docker.sock', config: false } as const;
    const error = await refusal(listCells(elsewhere), 'invalid-config');
    expect(error.message).toContain('"engine"');
    await refusal(attachRuntime('x', elsewhere), 'invalid-config');
  });

  test('backends that keep nothing say which do', async () => {
    const attached = await refusal(
      attachRuntime('x', { backend: 'cli', config: false }),
      'capability-unsupported',
    );
    expect(attached.message).toContain(
      'docker, e2b, kubernetes, local, modal, runloop, sandbox, service, ubuntu-docker',
    );
    await refusal(listCells({ backend: 'remote', config: false }), 'capability-unsupported');
    const asked = { backend: 'cli', keepAlive: true, config: false } as CreateRuntimeOptions;
    await refusal(createRuntime(asked), 'capability-unsupported');
    await using runtime = await createRuntime({ backend: 'local', config: false });
    await refusal(runtime.detach(), 'capability-unsupported');
    await refusal(runtime.pause(), 'capability-unsupported');
    expect(await sh(runtime, 'echo unharmed')).toBe('unharmed\n');
  });
});
