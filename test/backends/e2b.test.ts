/** Backend `e2b` through the published client, against our own service that speaks its protocol. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { attachRuntime, createRuntime, listCells } from '../../src/index.js';
import { refusal, sh } from '../../src/testing/contract/given.js';
import { type E2bService, startE2bService } from '../compat/e2b/e2b-service.js';
import { contractSample } from './vendors/contract-sample.js';

let service: E2bService;
beforeAll(async () => {
  service = await startE2bService();
});
afterAll(() => service.close());

const options = () => ({ backend: 'e2b' as const, ...service.connection });

describe('its contract', () => contractSample(options));

test('a cell that is kept is listed, attached to, paused and ended', async () => {
  const place = { ...service.connection, config: false } as const;
  const first = await createRuntime({ ...options(), ...place, keepAlive: true, labels: { mine: 'yes' } });
  expect(first.isolation.tier).toBe('vendor');
  await sh(first, 'cd /tmp; export STAGE=one');
  await first.detach();
  const [kept] = await listCells({ backend: 'e2b', ...place });
  expect(kept).toMatchObject({ id: first.id, status: 'running', labels: { mine: 'yes' } });
  expect(JSON.stringify(kept)).not.toContain(service.connection.apiKey);
  const second = await attachRuntime(first.id, { backend: 'e2b', ...place });
  expect(await sh(second, 'pwd; echo $STAGE')).toBe('/tmp\none\n');
  await second.pause();
  expect((await listCells({ backend: 'e2b', ...place }))[0]).toMatchObject({ status: 'paused' });
  const waiting = sh(second, 'echo waited');
  await second.resume();
  expect(await waiting).toBe('waited\n');
  await second.close();
  expect(await listCells({ backend: 'e2b', ...place })).toEqual([]);
  await refusal(attachRuntime(first.id, { backend: 'e2b', ...place }), 'cell-not-found');
});

test('what the vendor refuses is told in our words, and leaves nothing', async () => {
  const start = (more: object) => createRuntime({ ...options(), config: false, ...more });
  await refusal(start({ apiKey: 'wrong' }), 'unauthorized');
  const wrong = { backend: 'e2b', ...service.connection, apiKey: 'wrong', config: false } as const;
  await refusal(listCells(wrong), 'unauthorized');
  await refusal(attachRuntime('x', wrong), 'unauthorized');
  await refusal(start({ template: 'missing' }), 'not-found');
  const left = await fetch(`${service.url}/v2/sandboxes`, {
    headers: { 'x-api-key': service.connection.apiKey },
  });
  expect(await left.json()).toEqual([]);
});
