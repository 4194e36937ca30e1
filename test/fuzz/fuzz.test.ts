/** A hostile cell on each surface, for a bounded time. `npm run fuzz` goes on for longer, and with seeds of its own. */
import { expect, test } from 'vitest';
import { dockerEngine, images } from '../engines/docker.js';
import { describe as describeFailures, type FuzzOptions, fuzz } from './drive.js';
import { type SurfaceName, surfaces } from './surfaces/index.js';

const seconds = 3;

/** Other seeds run only on request: a change should be judged by what it changed. */
const seed = 1;

const namesOn = (backend: string) =>
  (Object.keys(surfaces) as SurfaceName[]).filter((name) => surfaces[name].backends.includes(backend));

async function expectHeld(
  options: Pick<FuzzOptions, 'surface' | 'backend' | 'engine' | 'asPlainUser'>,
): Promise<void> {
  const outcome = await fuzz({ seed, seconds, ...options });
  expect(outcome.failures, describeFailures(outcome.failures)).toEqual([]);
  expect(outcome.rounds).toBeGreaterThan(0);
}

for (const backend of ['sandbox', 'cli', 'local'])
  for (const surface of namesOn(backend))
    test(`${surface} on ${backend}`, () => expectHeld({ surface, backend }));

/** Without privileges there are other ways to count, to end and to see processes. */
for (const surface of ['control', 'terminal', 'mcp'] as const)
  test(`${surface} on sandbox, as a plain user`, () =>
    expectHeld({ surface, backend: 'sandbox', asPlainUser: true }));

for (const surface of namesOn('docker'))
  test(`${surface} on docker`, async () => {
    const { host } = await dockerEngine();
    await expectHeld({ surface, backend: 'docker', engine: { engine: host, image: images.tools } });
  });
