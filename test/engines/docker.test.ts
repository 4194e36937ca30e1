import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { dockerEngine, images } from './docker.js';

const run = promisify(execFile);

test.each(['runc', 'runsc'])('the engine of the tests runs containers with %s', async (runtime) => {
  const { host } = await dockerEngine();
  const docker = (...words: string[]) => run('docker', ['--host', host, ...words]);
  const { stdout } = await docker(
    'run',
    '--rm',
    `--runtime=${runtime}`,
    images.tools,
    'python3',
    '--version',
  );
  expect(stdout).toMatch(/^Python 3/);
});
