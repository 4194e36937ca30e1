import { expect, test } from 'vitest';
import { createRuntime } from '../../src/index.js';
import { contractSuite } from '../contract/suite.js';
import { dockerEngine, images } from '../engines/docker.js';
import { gvisorContract } from './docker/gvisor.js';

const { host: engine } = await dockerEngine();

contractSuite(
  'docker with gVisor',
  {
    backend: 'docker',
    engine,
    image: images.tools,
    ociRuntime: 'runsc',
    volumes: [`${process.execPath}:/usr/local/bin/node:ro`],
  },
  gvisorContract,
);

test('no variable of the container tells commands what the executor was told', async () => {
  const given = {
    backend: 'docker',
    config: false,
    engine,
    image: images.tools,
    ociRuntime: 'runsc',
  } as const;
  await using runtime = await createRuntime(given);
  // gVisor shows the variables of every process to all of them.
  const { output } = await runtime.run("cat /proc/*/environ | tr '\\0' '\\n' | grep -c socketPath");
  expect(output).toBe('0\n');
});
