import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime, type Runtime } from '../../src/index.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';
import { descendants, mebibyte, proportionalBytes } from '../memory.js';

/**
 * Servers of their own, so that they share no thread with the gateway; the second over TLS. They stream as many bytes as the
 * path says.
 */
const servers = `
const block = Buffer.alloc(1 << 20);
const answer = (request, response) => {
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
};
const [key, cert] = ['key', 'cert'].map((name) => require('node:fs').readFileSync(name));
const plain = require('node:http').createServer(answer).listen(0, '127.0.0.1', () => {
  const secure = require('node:https').createServer({ key, cert }, answer).listen(0, '127.0.0.1', () =>
    console.log(plain.address().port, secure.address().port));
});`;

/**
 * Requests one after the other, on one connection or over TLS on one for each; prints the median of their times in
 * milliseconds.
 */
const client = `
const isSecure = process.argv[1].startsWith('https');
const http = require(isSecure ? 'node:https' : 'node:http');
const agent = isSecure ? false : new http.Agent({ keepAlive: true, maxSockets: 1 });
const ask = () => new Promise((resolve, reject) => {
  const start = process.hrtime.bigint();
  http.get(process.argv[1], { agent, servername: 'bench.test', rejectUnauthorized: false }, (response) => response.resume().on('end', () => resolve(Number(process.hrtime.bigint() - start) / 1e6))).on('error', reject);
});
(async () => {
  const times = [];
  const count = isSecure ? 200 : 600;
  for (let index = 0; index < count; index++) times.push(await ask());
  const kept = times.slice(count / 4).sort((a, b) => a - b);
  console.log(kept[kept.length >> 1]);
  process.exit();
})();`;

/** Opens as many connections as it is told, and has an answer on each before it ends the first; prints how many had. */
const crowd = `
const { connect } = require('node:net');
const sockets = Array.from({ length: Number(process.argv[1]) }, () => connect(80, 'bench.test'));
let answered = 0;
const done = () => { console.log(answered); process.exit(); };
for (const socket of sockets) {
  socket.write('GET / HTTP/1.1\\r\\nHost: bench.test\\r\\n\\r\\n');
  socket.once('data', () => ++answered === sockets.length && done()).on('error', done);
}`;

const bytes = 2 ** 30;
const connections = 1000;
const idle = 100;

export default defineLine({
  name: 'egress',
  summary: 'what network rules cost: requests, bytes and starts through the gateway; floor: the same, direct',

  async measure() {
    const directory = makeCertificate();
    const child = spawn(process.execPath, ['-e', servers], {
      cwd: directory,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [ports] = await once(child.stdout, 'data');
    const [place = '', secure = ''] = String(ports)
      .trim()
      .split(' ')
      .map((port) => `127.0.0.1:${port}`);
    const rules = { allow: ['bench.test'], hosts: { 'bench.test': place } };
    const cell = { backend: 'sandbox', config: false, limits: { openFiles: 4096 } } as const;
    process.env.SSL_CERT_FILE = join(directory, 'cert');
    const opened = await createRuntime({
      ...cell,
      network: { requests: [{ host: 'bench.test' }], hosts: { 'bench.test': secure } },
    });
    const direct = await createRuntime({ ...cell, network: 'host' });
    const ruled = await createRuntime({ ...cell, network: rules });
    try {
      const request = await shareOf(
        () => median(direct, `http://${place}/`),
        () => median(ruled, 'http://bench.test/'),
      );
      const handshake = await shareOf(
        () => median(direct, `https://${secure}/`),
        () => median(opened, 'https://bench.test/'),
      );
      const answered = Number((await inNode(ruled, crowd, String(connections))).trim());
      const memory: number[] = [];
      const stream = await shareOf(
        () => speed(direct, `http://${place}/${bytes}`),
        async () => {
          const found = await speed(ruled, `http://bench.test/${bytes}`);
          memory.push(process.memoryUsage().rss / mebibyte);
          return found;
        },
      );
      const [afterOne = 0, , afterThree = 0] = memory;
      const each = await idleMebibytes(() => createRuntime({ ...cell, network: rules }));
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
            name: 'added to a request over TLS that is opened, on a connection of its own',
            value: handshake.other - handshake.floor,
            unit: 'ms',
            better: 'less',
            bar: 4,
          },
          {
            name: 'connections that had an answer at one time',
            value: answered,
            unit: '',
            better: 'more',
            bar: connections,
          },
          {
            name: 'share of the bytes in a second',
            value: stream.other / stream.floor,
            unit: '×',
            better: 'more',
            bar: 0.5,
          },
          {
            name: 'growth of the memory of the owner from the first GiB to the third',
            value: afterThree - afterOne,
            unit: 'MiB',
            better: 'less',
            bar: 64,
          },
          { name: `each of ${idle} idle cells with rules`, value: each, unit: 'MiB', better: 'less', bar: 2 },
          { name: 'ratio of starts', value: ratio, unit: '×', better: 'less', bar: 1.3 },
        ],
      };
    } finally {
      await Promise.all([direct.close(), ruled.close(), opened.close()]);
      child.kill();
      rmSync(directory, { recursive: true, force: true });
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
  return Number(await inNode(runtime, client, address));
}

async function inNode(runtime: Runtime, source: string, argument: string): Promise<string> {
  const { output } = await runtime.run(`node -e '${source.replaceAll("'", `'\\''`)}' ${argument}`);
  return output;
}

/** Of the processes of each cell, and what this one holds for it. */
async function idleMebibytes(start: () => Promise<Runtime>): Promise<number> {
  const used = () =>
    [process.pid, ...descendants(process.pid)].reduce((sum, pid) => sum + proportionalBytes(pid), 0);
  const before = used();
  const runtimes: Runtime[] = [];
  try {
    for (let count = 0; count < idle; count++) runtimes.push(await start());
    return (used() - before) / idle / mebibyte;
  } finally {
    await Promise.all(runtimes.map((runtime) => runtime.close()));
  }
}

/** Returns the directory of the certificate and its key. */
function makeCertificate(): string {
  const directory = mkdtempSync(join(tmpdir(), 'workcell-bench-'));
  const names = ['-subj', '/CN=bench.test', '-addext', 'subjectAltName=DNS:bench.test'];
  const key = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-keyout',
    'key',
    '-out',
    'cert',
  ];
  execFileSync('openssl', ['req', '-x509', '-days', '2', ...names, ...key], {
    cwd: directory,
    stdio: 'pipe',
  });
  return directory;
}

async function speed(runtime: Runtime, address: string): Promise<number> {
  const { output } = await runtime.run(`curl -sS -o /dev/null -w '%{speed_download}' ${address}`);
  return Number(output);
}
