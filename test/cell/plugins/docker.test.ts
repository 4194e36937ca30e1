/** Plugins of this package inside a container, which has nothing else of this machine. */
import { expect, test } from 'vitest';
import { definePlugin } from '../../../src/cell/plugins/index.js';
import { createRuntime } from '../../../src/index.js';
import { dockerEngine, images } from '../../engines/docker.js';

const { host: engine } = await dockerEngine();

test('a plugin of this package works in a container', async () => {
  await using runtime = await createRuntime({ backend: 'docker', engine, image: images.bare });
  const answer = await runtime.execute({
    action: 'connect_mcp',
    servers: { none: { command: 'no-such-program' } },
  });
  expect(answer.servers).toMatchObject([{ name: 'none', state: 'failed' }]);
});

test('one from elsewhere is refused with the reason', async () => {
  const plugin = definePlugin({
    name: 'mine',
    version: '1.0.0',
    summary: 'Mine.',
    actions: {},
    initialize: async () => ({ handlers: {} }),
  });
  const starting = createRuntime({ backend: 'docker', engine, image: images.bare, plugins: [plugin] });
  await expect(starting).rejects.toMatchObject({ code: 'invalid-config', details: { plugin: 'mine' } });
});
