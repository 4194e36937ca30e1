import { expect, test } from 'vitest';
import { createRuntime } from '../../src/index.js';
import { contractSuite } from '../contract/suite.js';
import { dockerEngine, images } from '../engines/docker.js';
import { gvisorContract } from './docker/gvisor.js';
import { ubuntuVerbs } from './ubuntu-docker/verbs.js';

const { host: engine } = await dockerEngine();
const cell = {
  backend: 'ubuntu-docker',
  config: false,
  engine,
  image: images.tools,
  ociRuntime: 'runsc',
} as const;

contractSuite(
  'ubuntu-docker with gVisor',
  { ...cell, volumes: [`${process.execPath}:/usr/local/bin/node:ro`] },
  gvisorContract,
);

ubuntuVerbs(cell);

test('packages of the system are there', async () => {
  await using runtime = await createRuntime({ ...cell, systemPackages: ['libjq1'] });
  expect((await runtime.run('dpkg --status libjq1')).output).toContain('install ok installed');
});
