import { Pool } from 'undici';
import { createRuntime } from '../../src/index.js';
import { rawSpawn } from '../floors.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';
import { startRoundTrip } from '../round-trip.js';
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
    await using within = await createRuntime({ config: false, backend: 'cli' });
    await using trip = await startRoundTrip();
    const timings = await interleave(
      {
        "run '/bin/true'": () => runtime.run('/bin/true'),
        'spawn + round trip': async () => {
          await rawSpawn('/bin/true');
          await trip.go();
        },
        'run :': () => runtime.run(':'),
        'run :, in process': () => within.run(':'),
        'round trip': () => trip.go(),
      },
      { rounds: 1000, warmup: 200 },
    );
    const overhead = timings["run '/bin/true'"].p50 - timings['spawn + round trip'].p50;
    const wire = timings['run :'].p50 - timings['run :, in process'].p50;
    const perSecond = await aliveRate(server.url, () => runtime.run('/bin/true'));
    return {
      timings,
      floor: 'spawn + round trip',
      figures: [
        { name: 'above the floor, p50', value: overhead, unit: 'ms', better: 'less', bar: 0.5, aim: 0.1 },
        { name: 'above the same in process, p50', value: wire, unit: 'ms', better: 'less', bar: 0.3 },
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
