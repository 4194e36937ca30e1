import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Sandbox } from 'e2b';
import { ServiceClient } from '../../src/client/index.js';
import { e2bMount } from '../../src/compat/e2b/e2b-mount.js';
import { startService } from '../../src/service/serve-service.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

const pool = 4;
const apiKey = 'an-operator-key-of-the-bench';

export default defineLine({
  name: 'e2b',
  summary: "the published client of E2B on a service; floor: a process over the service's own API",

  async measure() {
    const directory = mkdtempSync(join(tmpdir(), 'workcell-bench-e2b-'));
    const config = join(directory, 'service.toml');
    writeFileSync(
      config,
      `backend = "sandbox"\n[events]\nstore = "memory"\n[service]\nstore = "sqlite:${join(directory, 'service.db')}"\n[service.templates.warm]\npool = ${pool}\n`,
      { mode: 0o600 },
    );
    const service = await startService({
      listen: { host: '127.0.0.1', port: 0 },
      operatorKey: apiKey,
      config,
      also: [e2bMount],
    });
    const url = `http://127.0.0.1:${(service.address as { port: number }).port}`;
    const connection = { apiKey, apiUrl: url, sandboxUrl: url };
    const client = new ServiceClient({ url, apiKey });
    const kept = await Sandbox.create(connection);
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const act = async (action: object): Promise<{ id?: string }> => {
      const answer = await fetch(`${client.address(kept.sandboxId)}/v1/actions`, {
        method: 'POST',
        headers,
        body: JSON.stringify(action),
      });
      if (!answer.ok) throw new Error(await answer.text());
      return (await answer.json()) as { id?: string };
    };
    // As this client starts a command.
    const argv = ['/bin/bash', '-l', '-c', 'true'];
    let last: Sandbox | undefined;
    const floor = 'start_process and wait_process';
    try {
      const timings = await interleave(
        {
          'Sandbox.create, commands.run': async () => {
            last = await Sandbox.create('warm', connection);
            await last.commands.run('true');
          },
          'kill, until the pool is full': async () => {
            await last?.kill();
            while ((await client.status()).spare < pool) await setTimeout(5);
          },
          'commands.run': () => kept.commands.run('true'),
          [floor]: async () => {
            const { id } = await act({ action: 'start_process', argv });
            await act({ action: 'wait_process', id });
          },
        },
        { rounds: 60, warmup: 5 },
      );
      return {
        timings,
        floor,
        figures: [
          {
            name: 'warm create to the end of the first command',
            value: timings['Sandbox.create, commands.run'].p50,
            unit: 'ms',
            better: 'less',
            bar: 25,
          },
          {
            name: 'commands.run, as a multiple of the native API',
            value: timings['commands.run'].p50 / (timings[floor]?.p50 ?? Number.NaN),
            unit: '×',
            better: 'less',
            bar: 3,
          },
        ],
      };
    } finally {
      await kept.kill();
      await service.close();
      rmSync(directory, { recursive: true, force: true });
    }
  },
});
