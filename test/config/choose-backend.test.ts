import { expect, test } from 'vitest';
import { type Backend, defineBackend, type Probe } from '../../src/backends/backend.js';
import { chooseBackend } from '../../src/config/choose-backend.js';
import type { Demand, Fact } from '../../src/protocol/index.js';

function choose(probes: Record<string, Partial<Probe>>, demand?: Demand) {
  const load = async (type: string): Promise<Backend> =>
    defineBackend({
      type,
      options: {},
      probe: async () => ({ available: true, tier: 'none', summary: '', advice: [], ...probes[type] }),
      start: () => Promise.reject(new Error('not started here')),
    }) as unknown as Backend;
  return chooseBackend({ known: Object.keys(probes), load, demand });
}

test('the first candidate that is available is chosen', async () => {
  const sandbox = { tier: 'namespace' } as const;
  const docker = { tier: 'container' } as const;
  expect(await choose({ cli: {}, docker, sandbox })).toBe('sandbox');
  expect(await choose({ cli: {}, docker, sandbox: { ...sandbox, available: false } })).toBe('docker');
  expect(await choose({ cli: {}, docker, sandbox }, { tier: 'container' })).toBe('docker');
});

test('a candidate whose probe says that a demanded fact is not enforced is passed over', async () => {
  const memory: Fact = {
    code: 'memory',
    enforced: false,
    values: { limit: 1, scope: 'process', by: 'watch' },
  };
  const probes = { sandbox: { tier: 'namespace', facts: [memory] }, docker: { tier: 'container' } } as const;
  expect(await choose(probes, { facts: ['memory'] })).toBe('docker');
  expect(await choose(probes, { facts: ['processes'] })).toBe('sandbox');
  await expect(choose({ sandbox: probes.sandbox }, { facts: ['memory'] })).rejects.toThrow(
    /does not enforce what is demanded: memory/,
  );
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
  const docker = { available: false, summary: 'No Docker Engine answers.' };
  await expect(choose({ cli: {}, sandbox, docker })).rejects.toThrow(
    /\n {2}sandbox: bubblewrap is missing\.\n {4}apt-get install bubblewrap\n {2}docker: No Docker Engine/,
  );
});

test('who demands isolation is not told to do without', async () => {
  const refused = choose({ cli: {}, sandbox: { tier: 'namespace' } }, { tier: 'vm' });
  await expect(refused).rejects.toThrow(/isolation vm\..*"vm" is demanded/s);
  await expect(refused).rejects.not.toThrow(/"cli"/);
});
