/** Examples assert what they show and end with an error code when it does not hold. */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { checkout, filesBelow } from '../house/source.js';

const programs = filesBelow('examples', '.ts').filter((file) => !file.endsWith('.d.ts'));

test.each(programs)('%s runs', (file) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', file], {
    cwd: checkout,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 50_000,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).not.toBe('');
});
