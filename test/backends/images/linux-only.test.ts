import { afterEach, beforeEach, expect, test } from 'vitest';
import { executorBundle } from '../../../src/backends/images/bundle/executor-bundle.js';
import { loadBackend } from '../../../src/backends/index.js';
import { chooseBackend } from '../../../src/config/choose-backend.js';

const own = Object.getOwnPropertyDescriptor(process, 'platform') as PropertyDescriptor;

beforeEach(() => {
  Object.defineProperty(process, 'platform', { ...own, value: 'darwin' });
});
afterEach(() => {
  Object.defineProperty(process, 'platform', own);
});

test.each(['docker', 'ubuntu-docker', 'kubernetes', 'daytona', 'e2b', 'modal', 'runloop', 'sandbox'])(
  'the probe of %s says that it needs Linux, and what to do',
  async (name) => {
    const { available, summary, advice } = await (await loadBackend(name)).probe();
    expect(available).toBe(false);
    expect(summary).toContain('this is darwin');
    expect(advice.join()).toContain('Run Workcell in a Linux');
  },
);

test.each([
  ['cli', {}],
  ['local', {}],
  ['remote', { url: 'http://127.0.0.1:1' }],
  ['service', { url: 'http://127.0.0.1:1', apiKey: 'a key of a service' }],
])('%s can start without Linux', async (name, place) => {
  expect(await (await loadBackend(name)).probe(place)).toMatchObject({ available: true });
});

test('a start that names no backend, or needs the executor, fails with what to do', async () => {
  const advice = 'Run Workcell in a Linux';
  const chosen = chooseBackend({ known: ['sandbox', 'docker'], load: loadBackend });
  await expect(chosen).rejects.toMatchObject({
    code: 'backend-unavailable',
    message: expect.stringContaining(advice),
  });
  await expect(executorBundle()).rejects.toMatchObject({
    code: 'backend-unavailable',
    message: expect.stringContaining(advice),
  });
});
