/** Plugins inside a container, which has nothing of this machine but what we bring there. */
import { expect, test } from 'vitest';
import { definePlugin } from '../../../src/cell/plugins/index.js';
import { createRuntime } from '../../../src/index.js';
import { dockerEngine, images } from '../../engines/docker.js';
import { makeProject, provesWords, wordsPolicy } from './words.js';

const { host: engine } = await dockerEngine();

test('plugins of this package and from elsewhere work in a container', async () => {
  const config = await makeProject(
    'plugins = ["mcp", { name = "workcell-plugin-words", options = { start = 40 } }]\n',
  );
  await using runtime = await createRuntime({
    backend: 'docker',
    engine,
    image: images.bare,
    config,
    policy: wordsPolicy,
  });
  await provesWords(runtime);

  const servers = { none: { command: 'no-such-program' } };
  const failed = await runtime.mcp.connect(servers).catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: 'mcp-failed', details: { servers: [{ name: 'none' }] } });

  const { output, exitCode } = await runtime.run('ls /run/workcell/plugins');
  expect({ output, exitCode }).toMatchObject({
    output: expect.stringContaining('Permission denied'),
    exitCode: 2,
  });
  const mounts = (await runtime.run('grep " /run/workcell/plugins " /proc/self/mountinfo')).output;
  expect(mounts).toMatch(/ \/run\/workcell\/plugins ro,/);
});

test('one that was given as an object is refused with the reason', async () => {
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
