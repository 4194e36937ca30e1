import { expect, test } from 'vitest';
import { type Backend, defineBackend, type Probe } from '../../src/backends/backend.js';
import { chooseBackend } from '../../src/config/choose-backend.js';

function choose(probes: Record<string, Partial<Probe>>, minIsolation?: 'container') {
  const load = async (type: string): Promise<Backend> =>
    defineBackend({
      type,
      options: {},
      probe: async () => ({ available: true, tier: 'none', summary: '', advice: [], ...probes[type] }),
      start: () => Promise.reject(new Error('not started here')),
    }) as unknown as Backend;
  return chooseBackend({ known: Object.keys(probes), load, minIsolation });
}

test('the first candidate that is available is chosen', async () => {
  const sandbox = { tier: 'namespace' } as const;
  const docker = { tier: 'container' } as const;
  expect(await choose({ cli: {}, docker, sandbox })).toBe('sandbox');
  expect(await choose({ cli: {}, docker, sandbox: { ...sandbox, available: false } })).toBe('docker');
  expect(await choose({ cli: {}, docker, sandbox }, 'container')).toBe('docker');
});

test('a backend without isolation is never chosen, and the error says how to ask for it', async () => {
  const refused = choose({ cli: {}, local: {} });
  await expect(refused).rejects.toMatchObject({ code: 'backend-unavailable' });
  await expect(refused).rejects.toThrow(/ask for it by name: backend "cli"/);
});

test('the error says what to install', async () => {
  const sandbox = {
    available: false,
    summary: 'bubblewrap is missing.',
    advice: ['apt-get install bubblewrap'],
  };
  await expect(choose({ cli: {}, sandbox })).rejects.toThrow(
    /sandbox: bubblewrap is missing\. apt-get install bubblewrap/,
  );
});
