import { describe, expect, test } from 'vitest';
import { createRuntime } from '../../src/index.js';
import { refusal } from '../../src/testing/contract/given.js';
import { contractSuite } from '../contract/suite.js';
import { dockerEngine, images } from '../engines/docker.js';
import { ubuntuVerbs } from './ubuntu-docker/verbs.js';

const { host: engine } = await dockerEngine();
const cell = { backend: 'ubuntu-docker', config: false, engine, image: images.tools } as const;

contractSuite(
  'ubuntu-docker',
  { ...cell, volumes: [`${process.execPath}:/usr/local/bin/node:ro`] },
  { traits: ['limited-tree', 'checkpoints', 'forks'] },
);

ubuntuVerbs(cell);

test('an image without Python that none can be installed into says both', async () => {
  // Its package source holds none.
  for (const _ of ['first', 'again']) {
    const error = await refusal(createRuntime({ ...cell, image: images.bare }), 'build-failed');
    expect(error.message).toMatch(
      /^The image "debian:bookworm" has no Python, and Workcell could not install one/,
    );
    expect(error.message).toContain('Unable to locate package python3');
    expect(error.message).toContain('buildNetwork');
  }
});

describe('packages', () => {
  test('of the system are installed once, and kept in a layer of the image', async () => {
    const messages: string[] = [];
    const asked = {
      ...cell,
      systemPackages: ['jq'],
      onStatus: ({ status, message }: { status: string; message: string }) =>
        void (status === 'BUILDING_RUNTIME' && messages.push(message)),
    };
    const first = await createRuntime(asked);
    expect((await first.run(`echo '{"a":42}' | jq .a`)).output).toBe('42\n');
    await first.close();
    expect(messages.length).toBeGreaterThan(0);
    messages.length = 0;
    const second = await createRuntime(asked);
    expect((await second.run('jq --version')).exitCode).toBe(0);
    await second.close();
    expect(messages).toEqual([]);
  });

  test('that do not exist are refused', async () => {
    await refusal(createRuntime({ ...cell, systemPackages: ['no-such-package-anywhere'] }), 'build-failed');
    await refusal(createRuntime({ ...cell, systemPackages: ['--force'] }), 'invalid-config');
  });
});
