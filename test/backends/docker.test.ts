import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createRuntime } from '../../src/index.js';
import { refusal } from '../../src/testing/contract/given.js';
import { contractSuite } from '../contract/suite.js';
import { dockerEngine, images } from '../engines/docker.js';

const { host: engine } = await dockerEngine();

contractSuite(
  'docker',
  {
    backend: 'docker',
    engine,
    image: images.tools,
    // The image has no Node, which one of the behaviours talks to.
    volumes: [`${process.execPath}:/usr/local/bin/node:ro`],
  },
  { traits: ['limited-tree', 'kernels', 'checkpoints', 'forks'] },
);

const cell = { backend: 'docker', config: false, engine, image: images.bare } as const;

describe('bad input has an error of its own', () => {
  test('no engine', async () => {
    const error = await refusal(
      createRuntime({ ...cell, engine: 'unix:///nowhere.sock' }),
      'backend-unavailable',
    );
    expect(error.message).toContain('DOCKER_HOST');
  });

  test('an image that is not there', async () => {
    const error = await refusal(createRuntime({ ...cell, image: 'nobody/nothing:1' }), 'image-missing');
    expect(error.message).toContain('docker pull nobody/nothing:1');
  });

  test('what is no name of an image', async () => {
    const error = await refusal(createRuntime({ ...cell, image: 'Not One' }), 'invalid-config');
    expect(error.message).toMatch(/^"Not One" is not the name of an image.*debian:bookworm/);
  });

  test.each([
    '/nowhere/at/all:/mnt',
    '/nowhere/nvidia/gpu:/mnt',
    'x',
    '/etc:relative',
    '/var/run/docker.sock:/s',
  ])('a volume that cannot be mounted: %s', async (volume) => {
    const error = await refusal(createRuntime({ ...cell, volumes: [volume] }), 'invalid-config');
    expect(error.message).toContain(volume);
    expect(error.message).not.toContain('GPU');
  });

  test('an OCI runtime that the engine does not know', async () => {
    const error = await refusal(createRuntime({ ...cell, ociRuntime: 'quantum' }), 'invalid-config');
    expect(error.message).toContain('quantum');
  });

  test.each([[true], [2], [['0', 1]]])('a GPU where there is none: %j', async (gpu) => {
    const error = await refusal(createRuntime({ ...cell, gpu }), 'invalid-config');
    expect(error.message).toMatch(/No GPU can be given.*Container Toolkit/);
  });

  test('a port of a cell without a network', async () => {
    await refusal(createRuntime({ ...cell, ports: [{ container: 80 }] }), 'invalid-config');
  });

  test('a network that does not exist', async () => {
    await refusal(createRuntime({ ...cell, network: 'nowhere-net' }), 'not-found');
  });
});

test('what an image asks of a runtime for GPUs does not count', async () => {
  await using runtime = await createRuntime(cell);
  expect((await runtime.run('echo $NVIDIA_VISIBLE_DEVICES')).output).toBe('void\n');
});

test('network rules: the gateway is the only way out, and what it refuses says so', async () => {
  const server = createServer((_request, response) => response.end('from outside')).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  await using runtime = await createRuntime({
    ...cell,
    network: { allow: ['web.test'], hosts: { 'web.test': place, 'other.test': place } },
  });
  const get = (host: string, port = 80) =>
    `exec 3<>/dev/tcp/${host}/${port} && printf 'GET / HTTP/1.0\\r\\nHost: ${host}\\r\\n\\r\\n' >&3 && cat <&3`;
  expect((await runtime.run(get('web.test'))).output).toContain('from outside');
  const refused = await runtime.run(get('other.test'));
  expect(refused.output).toContain('refused-by-network-rules');
  expect(refused.notice).toContain('other.test:80');
  expect((await runtime.run(get('127.0.0.1', Number(place.split(':')[1])))).exitCode).not.toBe(0);
  expect(runtime.isolation.facts).toContainEqual({
    code: 'network',
    enforced: true,
    values: { kind: 'rules', networks: [], publishedPorts: 0 },
  });
  await runtime.network.allow('other.test');
  expect((await runtime.run(get('other.test'))).output).toContain('from outside');
  const kept = createRuntime({ ...cell, network: { allow: ['web.test'] }, keepAlive: true });
  await expect(kept).rejects.toMatchObject({ code: 'capability-unsupported' });
});
