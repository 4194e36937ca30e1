/** What every vendor's backend must do against its stand-in, besides the contract. */
import { describe, expect, test } from 'vitest';
import { attachRuntime, type CreateRuntimeOptions, createRuntime, listCells } from '../../../src/index.js';
import { refusal, sh } from '../../../src/testing/contract/given.js';
import { contractSample } from './contract-sample.js';
import { Answer, type StandIn } from './stand-in.js';

export function vendorSuite(
  vendor: () => StandIn & { readonly key: string },
  place: () => { readonly backend: 'daytona' | 'runloop'; readonly apiKey: string; readonly apiUrl: string },
  { pauses }: { readonly pauses: boolean },
): void {
  const create = (more: object = {}) =>
    createRuntime({ ...place(), config: false, ...more } as CreateRuntimeOptions);

  describe('its contract', () => contractSample(() => place()));

  test('a cell that is kept is listed without its key, attached to, and ended', async () => {
    const first = await create({ keepAlive: true, labels: { mine: 'yes' } });
    expect(first.isolation.tier).toBe('vendor');
    await sh(first, 'cd /tmp; export STAGE=one');
    await first.detach();
    const where = { ...place(), config: false } as Parameters<typeof listCells>[0] & object;
    const [kept] = await listCells(where);
    expect(kept).toMatchObject({ id: first.id, status: 'running', labels: { mine: 'yes' } });
    expect(JSON.stringify(kept)).not.toContain(place().apiKey);
    const second = await attachRuntime(first.id, where as Parameters<typeof attachRuntime>[1]);
    expect(await sh(second, 'pwd; echo $STAGE')).toBe('/tmp\none\n');
    expect(await sh(second, 'env')).not.toContain(place().apiKey);
    if (pauses) {
      await second.pause();
      const waiting = sh(second, 'echo waited');
      await second.resume();
      expect(await waiting).toBe('waited\n');
    }
    await second.close();
    expect(vendor().sandboxes.size).toBe(0);
    await refusal(attachRuntime(first.id, where as Parameters<typeof attachRuntime>[1]), 'cell-not-found');
  });

  test('refusals and faults of the vendor are told in our words, and leave no sandbox', async () => {
    await refusal(create({ apiKey: 'wrong' }), 'unauthorized');
    const when = (part: string, answer: Answer) =>
      vendor().faults.push(({ path, method }) =>
        method === 'POST' && path.includes(part) ? answer : undefined,
      );
    const never = { 'x-should-retry': 'false' };
    when('', new Answer(429, { message: 'quota' }, never));
    await refusal(create(), 'rate-limited');
    when('execute', new Answer(500, { message: 'broken' }, never));
    await refusal(create(), 'backend-unavailable');
    when('upload', new Answer(507, { message: 'no space' }, never));
    await refusal(create(), 'backend-unavailable');
    expect(vendor().faults).toEqual([]);
    expect(vendor().sandboxes.size).toBe(0);
  });

  test('a sandbox that the vendor forgets is told as lost', async () => {
    const runtime = await create();
    const [sandbox] = vendor().sandboxes.values();
    vendor().sandboxes.clear();
    await sandbox?.runtime.close();
    await expect(runtime.run('true')).rejects.toThrow();
    await runtime.close();
  });
}
