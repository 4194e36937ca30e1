import { expect, test } from 'vitest';
import { deviceRequest } from '../../../src/backends/docker/container.js';
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

test.each([0, -1, [], [''], 'all', 1.5])('gpu %j is refused', (gpu) => {
  expect(docker.options.safeParse({ gpu }).success).toBe(false);
});
