import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { createRuntime } from '../../src/index.js';
import { rawSpawn } from '../floors.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';
import { startExecutorProcess } from './http/server.js';

const aliveConnections = 16;
const aliveMs = 3000;

export default defineLine({
  name: 'http',
  summary:
    "run '/bin/true' through the HTTP server in a process of its own; floor: raw spawn + one node:http keep-alive round trip",

  async measure() {
    await using server = await startExecutorProcess();
    await using runtime = await createRuntime({ backend: 'remote', url: server.url, token: server.token });
    await using trip = await startRoundTrip();
    const timings = await interleave(
      {
        "run '/bin/true'": () => runtime.run('/bin/true'),
        'spawn + round trip': async () => {
          await rawSpawn('/bin/true');
          await trip.go();
        },
        'run :': () => runtime.run(':'),
        'round trip': () => trip.go(),
      },
      { rounds: 1000, warmup: 200 },
    );
    const overhead = timings["run '/bin/true'"].p50 - timings['spawn + round trip'].p50;
    const perSecond = await aliveRate(server.url, () => runtime.run('/bin/true'));
    return {
      timings,
      floor: 'spawn + round trip',
      figures: [
        { name: 'above the floor, p50', value: overhead, unit: 'ms', better: 'less', bar: 0.5, aim: 0.1 },
        {
          name: `alive requests a second, ${aliveConnections} connections, while commands run`,
          value: perSecond,
          unit: '/s',
          better: 'more',
          bar: 5000,
        },
      ],
    };
  },
});

/** A server of Node's own, and a client that asks it over one kept connection. */
async function startRoundTrip(): Promise<{ go(): Promise<void> } & AsyncDisposable> {
  const server = createServer((_request, response) => response.end('{}')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    async go() {
      const [response] = await once(request({ host: '127.0.0.1', port, agent }).end(), 'response');
      response.resume();
      await once(response, 'end');
    },
    async [Symbol.asyncDispose]() {
      agent.destroy();
      server.close();
    },
  };
}

async function aliveRate(url: string, command: () => Promise<unknown>): Promise<number> {
  const pool = new Pool(url, { connections: aliveConnections, pipelining: 1 });
  const end = performance.now() + aliveMs;
  let answered = 0;
  const ask = async () => {
    while (performance.now() < end) {
      const { statusCode, body } = await pool.request({ method: 'GET', path: '/alive' });
      await body.dump();
      if (statusCode === 200) answered++;
    }
  };
  const work = async () => {
    while (performance.now() < end) await command();
  };
  await Promise.all([work(), ...Array.from({ length: aliveConnections }, ask)]);
  await pool.destroy();
  return answered / (aliveMs / 1000);
}
