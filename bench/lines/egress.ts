import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRuntime, type Runtime } from '../../src/index.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

/** A server of its own, so that it shares no thread with the gateway. It streams as many bytes as the path says. */
const server = `
const block = Buffer.alloc(1 << 20);
require('node:http').createServer((request, response) => {
  let left = Number(request.url.slice(1));
  if (!(left > 0)) return response.end('ok');
  response.writeHead(200, { 'Content-Length': left });
  const more = () => {
    while (left > 0) {
      const piece = left < block.length ? block.subarray(0, left) : block;
      left -= piece.length;
      if (!response.write(piece)) return response.once('drain', more);
    }
    response.end();
  };
  more();
}).listen(0, '127.0.0.1', function () { console.log(this.address().port) });`;

/** Requests one after the other on one connection; prints the median of their times in milliseconds. */
const client = `
const http = require('node:http');
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
const ask = () => new Promise((resolve, reject) => {
  const start = process.hrtime.bigint();
  http.get(process.argv[1], { agent }, (response) => response.resume().on('end', () => resolve(Number(process.hrtime.bigint() - start) / 1e6))).on('error', reject);
});
(async () => {
  const times = [];
  for (let index = 0; index < 600; index++) times.push(await ask());
  console.log(times.slice(100).sort((a, b) => a - b)[250]);
  process.exit();
})();`;

const bytes = 2 ** 30;

export default defineLine({
  name: 'egress',
  summary: 'what network rules cost: requests, bytes and starts through the gateway; floor: the same, direct',

  async measure() {
    const child = spawn(process.execPath, ['-e', server], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [port] = await once(child.stdout, 'data');
    const place = `127.0.0.1:${String(port).trim()}`;
    const rules = { allow: ['bench.test'], hosts: { 'bench.test': place } };
    const cell = { backend: 'sandbox', config: false } as const;
    const direct = await createRuntime({ ...cell, network: 'open' });
    const ruled = await createRuntime({ ...cell, network: rules });
    try {
      const request = await shareOf(
        () => median(direct, `http://${place}/`),
        () => median(ruled, 'http://bench.test/'),
      );
      const stream = await shareOf(
        () => speed(direct, `http://${place}/${bytes}`),
        () => speed(ruled, `http://bench.test/${bytes}`),
      );
      const memory = process.memoryUsage().rss / 2 ** 20;
      const start = async (network: 'none' | typeof rules) => {
        await using runtime = await createRuntime({ ...cell, network });
        await runtime.run('true');
      };
      const timings = await interleave(
        { 'start without a network': () => start('none'), 'start with rules': () => start(rules) },
        { rounds: 20, warmup: 3 },
      );
      const floor = 'start without a network';
      const ratio = timings['start with rules'].p50 / timings[floor].p50;
      return {
        timings,
        floor,
        figures: [
          {
            name: 'added to a request',
            value: request.other - request.floor,
            unit: 'ms',
            better: 'less',
            bar: 0.5,
            aim: 0.2,
          },
          {
            name: 'share of the bytes in a second',
            value: stream.other / stream.floor,
            unit: '×',
            better: 'more',
            bar: 0.5,
          },
          { name: 'memory of the owner behind 3 GiB', value: memory, unit: 'MiB', better: 'less', bar: 400 },
          { name: 'ratio of starts', value: ratio, unit: '×', better: 'less', bar: 1.3 },
        ],
      };
    } finally {
      await Promise.all([direct.close(), ruled.close()]);
      child.kill();
    }
  },
});

/** The median of three of each, in turn. */
async function shareOf(floor: () => Promise<number>, other: () => Promise<number>) {
  const [floors, others]: [number[], number[]] = [[], []];
  for (let round = 0; round < 3; round++) {
    floors.push(await floor());
    others.push(await other());
  }
  const middle = (values: number[]) => values.sort((a, b) => a - b)[1] as number;
  return { floor: middle(floors), other: middle(others) };
}

async function median(runtime: Runtime, address: string): Promise<number> {
  const { output } = await runtime.run(`node -e '${client.replaceAll("'", `'\\''`)}' ${address}`);
  return Number(output);
}

async function speed(runtime: Runtime, address: string): Promise<number> {
  const { output } = await runtime.run(`curl -sS -o /dev/null -w '%{speed_download}' ${address}`);
  return Number(output);
}
