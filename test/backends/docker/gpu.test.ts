import { expect, test } from 'vitest';
import {
  type ContainerParts,
  describeContainer,
  deviceRequest,
} from '../../../src/backends/docker/container.js';
import { readIsolation } from '../../../src/backends/docker/container-facts.js';
import type { DockerOptions } from '../../../src/backends/docker/docker-options.js';
import docker from '../../../src/backends/docker.js';
import { findFact } from '../../../src/protocol/index.js';

const factOf = (gpu: unknown) => {
  const options = docker.options.parse({ gpu }) as DockerOptions;
  const kernel = { version: 'Linux version 6.1.0', seccomp: true, capabilities: '0', noNewPrivileges: true };
  const user = { uid: 1000, isOwn: false };
  return findFact(readIsolation({ options, user, isApart: true, setgidFiles: false, kernel }), 'devices');
};

test.each([
  [true, { Count: -1 }, ['all']],
  [2, { Count: 2 }, ['any 2']],
  [['GPU-1', 0], { DeviceIDs: ['GPU-1', '0'] }, ['GPU-1', '0']],
] as const)('gpu %j is asked of the engine as docker run --gpus does, and told', (gpu, wish, gpus) => {
  const request = deviceRequest(typeof gpu === 'object' ? [...gpu] : gpu);
  expect(request).toEqual({ Driver: '', Capabilities: [['gpu']], ...wish });
  expect(factOf(gpu)).toEqual({ code: 'devices', enforced: false, values: { gpus } });
});

test('without one a container has no device of the machine', () => {
  expect(factOf(undefined)).toMatchObject({ enforced: true, values: { gpus: [] } });
});

const containerWith = (gpu: unknown) =>
  describeContainer({
    id: 'one',
    options: docker.options.parse({ gpu }) as DockerOptions,
    user: { uid: 1000, gid: 1000 },
    setgidFiles: false,
    labels: {},
    workspace: '/tmp',
    wire: '/wire',
    resolver: '/resolver',
    overlays: '/overlays',
    newVolumes: [],
    bundle: { directory: '/bundle', hash: 'h', command: () => [] } as unknown as ContainerParts['bundle'],
    isLocal: false,
    shipped: { specs: [], files: new Map() } as unknown as ContainerParts['shipped'],
    plugins: '/plugins',
  });

test('what the engine is asked for has the GPUs, or says that there are none, whatever the image names', () => {
  const asked = { Driver: '', Capabilities: [['gpu']], DeviceIDs: ['GPU-1'] };
  expect(containerWith(['GPU-1'])).toMatchObject({ Env: [], HostConfig: { DeviceRequests: [asked] } });
  const without = containerWith(undefined);
  expect(without.Env).toEqual(['NVIDIA_VISIBLE_DEVICES=void']);
  expect(without.HostConfig).not.toHaveProperty('DeviceRequests');
});

test.each([0, -1, [], [''], 'all', 1.5])('gpu %j is refused', (gpu) => {
  expect(docker.options.safeParse({ gpu }).success).toBe(false);
});
