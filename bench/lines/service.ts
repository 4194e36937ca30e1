import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ServiceClient } from '../../src/client/index.js';
import { createRuntime } from '../../src/index.js';
import { startService } from '../../src/service/serve-service.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

const pool = 4;
const operatorKey = 'an-operator-key-of-the-bench';

export default defineLine({
  name: 'service',
  summary: 'a cell of a service over HTTP; floor: the same action in a kept cell without a service',

  async measure() {
    const directory = mkdtempSync(join(tmpdir(), 'workcell-bench-service-'));
    const config = join(directory, 'service.toml');
    writeFileSync(
      config,
      `backend = "sandbox"\n[events]\nstore = "memory"\n[service]\nstore = "sqlite:${join(directory, 'service.db')}"\n[service.templates.warm]\npool = ${pool}\n`,
      { mode: 0o600 },
    );
    const begun = performance.now();
    const service = await startService({ listen: { host: '127.0.0.1', port: 0 }, operatorKey, config });
    const startMs = performance.now() - begun;
    const url = `http://127.0.0.1:${(service.address as { port: number }).port}`;
    const client = new ServiceClient({ url, apiKey: operatorKey });
    const headers = { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ action: 'run', command: 'true' });
    const run = async (cell: string) => {
      const answer = await fetch(`${client.address(cell)}/v1/actions`, { method: 'POST', headers, body });
      if (!answer.ok) throw new Error(await answer.text());
      await answer.arrayBuffer();
    };
    const kept = await client.create();
    let last = '';
    const runtime = await createRuntime({
      backend: 'sandbox',
      config: false,
      keepAlive: true,
      events: { store: 'memory' },
    });
    try {
      const timings = await interleave(
        {
          'create from a pool, first command': async () => {
            ({ id: last } = await client.create({ template: 'warm' }));
            await run(last);
          },
          'removal, until the pool is full': async () => {
            await client.remove(last);
            while ((await client.status()).spare < pool) await setTimeout(5);
          },
          'command in a cell': () => run(kept.id),
          'command, kept cell without a service': async () => void (await runtime.run('true')),
        },
        { rounds: 60, warmup: 5 },
      );
      const bar = { unit: 'ms', better: 'less' } as const;
      return {
        timings,
        floor: 'command, kept cell without a service',
        figures: [
          {
            name: 'warm create to the end of the first command',
            value: timings['create from a pool, first command'].p50,
            ...bar,
            bar: 10,
          },
          {
            name: 'what the service adds to a command',
            value: timings['command in a cell'].p50 - timings['command, kept cell without a service'].p50,
            ...bar,
            bar: 0.5,
          },
          { name: 'start of the service', value: startMs, ...bar, bar: 1000 },
        ],
      };
    } finally {
      await runtime.close();
      await client.remove(kept.id);
      await service.close();
      rmSync(directory, { recursive: true, force: true });
    }
  },
});
