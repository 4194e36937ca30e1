import { expect, test, vi } from 'vitest';

// No engine ends a connection at just this moment.
const wire = {
  executor: { execute: vi.fn(), disconnect: vi.fn() },
  close: vi.fn(),
};
vi.mock('../../src/backends/docker/container-wire.js', () => ({ openWire: async () => wire }));
vi.mock('../../src/backends/engines/docker-engine.js', async () => {
  const { idLabel } = await import('../../src/backends/docker/labels.js');
  const Labels = { [idLabel]: 'one' };
  const docker = { listContainers: async () => [{ Id: 'container', Labels }], getContainer: () => ({}) };
  return { openEngine: async () => ({ host: 'unix:///none', docker }), engineTrouble: () => undefined };
});
vi.mock('../../src/backends/docker/container-home.js', () => ({
  findHome: () => ({ path: '/none', wire: '/none' }),
  readState: () => ({ executor: 1 }),
  removeHome: () => {},
}));
vi.mock(import('../../src/backends/docker/labels.js'), async (original) => ({
  ...(await original()),
  isKept: () => true,
  backendOf: () => 'docker',
}));
vi.mock('../../src/backends/docker/start-container.js', () => ({ openBundle: async () => '/none' }));

test('what a cell uses is told, and its connection closed, though that breaks as it ends', async () => {
  const { containerStats } = await import('../../src/backends/docker/attach-container.js');
  const stats = { memoryBytes: 1 };
  wire.executor.execute.mockResolvedValue(stats);
  wire.executor.disconnect.mockRejectedValue(new Error('broken'));
  expect(await containerStats('docker', 'one', {}, {})).toBe(stats);
  expect(wire.close).toHaveBeenCalledOnce();
});
