/** Options of code that say something else than their author meant: nothing starts, and the message names what was meant. */
import { expect, test } from 'vitest';
import { attachRuntime, createRuntime } from '../../src/index.js';
import { rules } from '../../src/runtime/security/index.js';

const refusal = (options: object) =>
  createRuntime({ backend: 'sandbox', config: false, events: { store: 'memory' }, ...options } as never).then(
    async (runtime) => {
      await runtime.close();
      return 'started';
    },
    ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
  );

test.each([
  [{ polcy: {} }, 'There is no option "polcy" of backend "sandbox". Did you mean policy? Accepted: config, '],
  [{ netwrk: 'none' }, 'Did you mean network?'],
  [{ events: 'record.db' }, 'The option "events" must be an object'],
  [{ events: { stor: 'memory' } }, 'The option "events" has "stor", which is not known. Did you mean store?'],
  [{ guards: rules() }, 'The option "guards" must be a list'],
  [{ tools: {} }, 'The option "tools" must be a list'],
  [{ policy: [] }, 'The option "policy" must be an object'],
  [{ policy: { onRisks: {} } }, 'policy has "onRisks", which is not known. Did you mean onRisk?'],
  [
    { policy: { onRisk: { hihg: 'deny' } } },
    'policy.onRisk has "hihg", which is not known. Did you mean high?',
  ],
  [
    { policy: { onRisk: { high: 'ask' } } },
    'onRisk.high = "ask" is not accepted. Accepted: allow, confirm, deny',
  ],
  [{ policy: { mode: 'allways' } }, 'mode = "allways" is not accepted.'],
  [{ policy: { rules: [{ decision: 'ask' }] } }, 'A rule decides "ask"; accepted: allow, confirm, deny.'],
  // It would match every action.
  [
    { policy: { rules: [{ decision: 'allow', comand: 'npm *' }] } },
    'A rule has "comand", which is not known. Did you mean command?',
  ],
  [{ audit: './audit.jsonl' }, 'The option "audit" must be an object'],
  [{ audit: { fil: 'x' } }, 'The option "audit" has "fil", which is not known. Did you mean file?'],
  [{ audit: { sync: true } }, 'The option "audit" names no file and no store'],
  [
    { secrets: { TOKEN: { value: 'a-secret', reach: 'envv' } } },
    'Secret TOKEN has the reach "envv"; accepted: none, env, network.',
  ],
  [{ secrets: { TOKEN: { value: 'a-secret', comands: [] } } }, 'Did you mean commands?'],
  [{ secrets: { TOKEN: { value: undefined } } }, 'Secret TOKEN has neither a value nor a provider.'],
  [{ network: 'npm' }, 'network: Invalid option: expected one of "none"|"open"|"host"'],
  [{ network: { preset: ['nmp'] } }, 'network.preset.0: Invalid option: expected one of "npm"|'],
  [{ network: { allow: 'example.com' } }, 'network.allow: Invalid input: expected array, received string'],
  [{ network: { alow: ['example.com'] } }, 'network: Unrecognized key: "alow"'],
])('%j is refused', async (options, message) => {
  const said = await refusal(options);
  expect(said).toMatch(/^invalid-config: /);
  expect(said).toContain(message);
});

test('a secret that is given as a text is refused without showing it', async () => {
  const said = await refusal({ secrets: { TOKEN: 'a-secret-text' } });
  expect(said).toBe(
    'invalid-config: Secret TOKEN must be an object: { value: … }, or { provider: () => … }.',
  );
});

test('what is wrong within an option is not mended by another', async () => {
  const said = await refusal({ limits: { memory: 1e9 } });
  expect(said).toMatch(/limits: Unrecognized key: "memory"\.$/);
});

test('what they meant is accepted, and an option without a value is none', async () => {
  const policy = {
    rules: [{ decision: 'deny', command: 'npm *', host: undefined }],
    onRisk: { high: 'deny' },
  };
  expect(await refusal({ policy, guards: [rules()], polcy: undefined })).toBe('started');
});

test('attaching takes the same care', async () => {
  const attach = (options: object) =>
    attachRuntime('0000000000000000', { backend: 'sandbox', config: false, ...options } as never);
  await expect(attach({ polcy: {} })).rejects.toThrow('There is no option "polcy". Did you mean policy?');
  await expect(attach({ events: 'record.db' })).rejects.toThrow('The option "events" must be an object');
  await expect(attach({})).rejects.toMatchObject({ code: 'cell-not-found' });
});
