import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, type ClientRequest, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ServiceClient } from '../../src/client/index.js';
import { defineLine } from '../line.js';
import { interleave, summarise } from '../measure.js';
import { availableBytes, mebibyte } from '../memory.js';

const main = fileURLToPath(new URL('../../dist/cli/main.cjs', import.meta.url));
const operatorKey = 'an-operator-key-of-the-bench';

/** To see that it works, with a part of the load: SERVICE_LOAD_SCALE=0.01. */
const scale = Number(process.env.SERVICE_LOAD_SCALE ?? 1);
const clients = 20;
const rounds = Math.max(1, Math.round(20 * scale));
const streams = Math.max(1, Math.round(2000 * scale));
const cells = Math.max(1, Math.round(1000 * scale));
const atOnce = 8;

export default defineLine({
  name: 'service-load',
  summary: `${clients} clients of one service, ${streams} streams, ${cells} idle cells; floor: an answer without work`,

  async measure() {
    if (!existsSync(main)) throw new Error('This measures the built package: run "npm run build" first.');
    const directory = mkdtempSync(join(tmpdir(), 'workcell-bench-service-'));
    const service = await serve(directory);
    const client = new ServiceClient({ url: service.url, apiKey: operatorKey });
    try {
      const idleBytes = (await client.status()).memoryBytes;
      const { readyz } = await interleave(
        { readyz: async () => void (await (await fetch(`${service.url}/readyz`)).arrayBuffer()) },
        { rounds: 100, warmup: 10 },
      );
      const heard = await listeners(service.url, client);
      const { samples, perSecond } = await churn(client);
      const held = await holdIdle(client);
      const first = summarise(samples);
      const less = { better: 'less' } as const;
      const more = { better: 'more' } as const;
      return {
        timings: { readyz, [`create to first command, ${clients} clients`]: first },
        floor: 'readyz',
        figures: [
          { name: 'create to first command, p99', value: first.p99, unit: 'ms', bar: 50, ...less },
          { name: 'create, run and delete', value: perSecond, unit: '/s', bar: 80, ...more },
          { name: 'open streams that hear of a command', value: heard, unit: '', bar: streams, ...more },
          { name: 'idle service', value: idleBytes / mebibyte, unit: 'MiB', bar: 150, ...less },
          {
            name: 'idle cell, of the machine',
            value: held.bytesEach / mebibyte,
            unit: 'MiB',
            bar: 6,
            ...less,
          },
          { name: 'idle cells that answer', value: held.answered, unit: '', bar: cells, ...more },
        ],
      };
    } finally {
      for await (const { id } of client.all()) await client.remove(id);
      service.child.kill('SIGTERM');
      await once(service.child, 'exit');
      rmSync(directory, { recursive: true, force: true });
    }
  },
});

/** In a process of its own, whose memory is that of nobody else. */
async function serve(directory: string): Promise<{ child: ChildProcess; url: string }> {
  const [config, keyFile] = [join(directory, 'service.toml'), join(directory, 'key')];
  writeFileSync(keyFile, operatorKey, { mode: 0o600 });
  writeFileSync(
    config,
    `backend = "sandbox"
[events]
store = "sqlite:${join(directory, 'events.db')}"
[service]
store = "sqlite:${join(directory, 'service.db')}"
max_cells = ${cells + 200}
max_cells_per_tenant = ${cells + 200}
[service.templates.warm]
pool = ${clients}
`,
    { mode: 0o600 },
  );
  const words = [main, 'serve', '--config', config, '--listen', '127.0.0.1:0', '--token-file', keyFile];
  const child = spawn(process.execPath, words, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, XDG_RUNTIME_DIR: directory },
  });
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += String(chunk);
      const [, found] = /listening on (\S+)/.exec(text) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', () => reject(new Error(`The service did not start: ${text}`)));
  });
  return { child, url };
}

/** How many of the open streams hear of one command. */
async function listeners(url: string, client: ServiceClient): Promise<number> {
  const { id } = await client.create();
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  const headers = { authorization: `Bearer ${operatorKey}` };
  const open: ClientRequest[] = [];
  let heard = 0;
  let allHeard = () => {};
  const all = new Promise<void>((resolve) => {
    allHeard = resolve;
  });
  const listen = () =>
    new Promise<void>((resolve, reject) => {
      const request = get(`${url}/v1/cells/${id}/v1/events`, { agent, headers }, (response) => {
        resolve();
        let hears = false;
        response.on('error', () => {});
        response.on('data', (chunk: Buffer) => {
          if (hears || !chunk.includes('heard-by-all')) return;
          hears = true;
          if (++heard === streams) allHeard();
        });
      });
      request.on('error', reject);
      open.push(request);
    });
  await inParallel(streams, 50, listen);
  await run(client, id, 'echo heard-by-all');
  await Promise.race([all, new Promise((resolve) => setTimeout(resolve, 30_000).unref())]);
  for (const request of open) request.on('error', () => {}).destroy();
  await client.remove(id);
  return heard;
}

/** Each client creates a cell, runs a command in it and ends it, again and again. */
async function churn(client: ServiceClient): Promise<{ samples: number[]; perSecond: number }> {
  const samples: number[] = [];
  const cycle = async () => {
    const begun = performance.now();
    const { id } = await client.create({ template: 'warm' });
    await run(client, id, 'true');
    samples.push(performance.now() - begun);
    await client.remove(id);
  };
  const begun = performance.now();
  await inParallel(clients * rounds, clients, cycle);
  return { samples, perSecond: samples.length / ((performance.now() - begun) / 1000) };
}

async function holdIdle(client: ServiceClient): Promise<{ bytesEach: number; answered: number }> {
  const ids: string[] = [];
  const before = availableBytes();
  await inParallel(cells, atOnce, async () => void ids.push((await client.create()).id));
  const bytesEach = (before - availableBytes()) / cells;
  let answered = 0;
  await inParallel(cells, atOnce, async (index) => {
    await run(client, ids[index] ?? '', 'true');
    answered++;
  });
  return { bytesEach, answered };
}

async function run(client: ServiceClient, cell: string, command: string): Promise<void> {
  const answer = await fetch(`${client.address(cell)}/v1/actions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ action: 'run', command }),
  });
  if (!answer.ok) throw new Error(await answer.text());
  await answer.arrayBuffer();
}

async function inParallel(
  times: number,
  most: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < times) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(most, times) }, worker));
}
