import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Pool } from 'undici';
import { pipedBash } from '../floors.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';
import { startRoundTrip } from '../round-trip.js';
import { startV0Process } from './http/server.js';

const content = 'x'.repeat(4096);

export default defineLine({
  name: 'v0',
  summary:
    'a command, and 4 KiB written and read, by the protocol of OpenHands V0; floor: a builtin over a pipe + one node:http keep-alive round trip',

  async measure() {
    await using server = await startV0Process();
    const pool = new Pool(server.url, { connections: 1 });
    const act = async (action: 'run' | 'read' | 'write', args: object): Promise<void> => {
      const { statusCode, body } = await pool.request({
        method: 'POST',
        path: '/execute_action',
        headers: { 'content-type': 'application/json', 'x-session-api-key': server.token },
        body: JSON.stringify({ action: { action, args } }),
      });
      const answer = (await body.json()) as { observation?: string };
      if (statusCode !== 200 || answer.observation !== action)
        throw new Error(`${action} answered ${statusCode}: ${JSON.stringify(answer)}`);
    };
    await using trip = await startRoundTrip();
    const bash = pipedBash();
    const path = join(server.folder, 'floor');
    try {
      const timings = await interleave(
        {
          command: () => act('run', { command: 'true' }),
          'builtin + round trip': async () => {
            await bash.run('true');
            await trip.go();
          },
          'write + read': async () => {
            await act('write', { path: 'file', content });
            await act('read', { path: 'file' });
          },
          'node:fs + two round trips': async () => {
            await writeFile(path, content);
            await trip.go();
            await readFile(path, 'utf8');
            await trip.go();
          },
        },
        { rounds: 500, warmup: 50 },
      );
      const files = timings['write + read'].p50 / timings['node:fs + two round trips'].p50;
      return {
        timings,
        floor: 'builtin + round trip',
        figures: [
          // A sixtieth of what the original takes for a command: 157 ms, measured once through its own client.
          { name: 'command, p50', value: timings.command.p50, unit: 'ms', better: 'less', bar: 2.6 },
          { name: 'write + read, ratio of p50', value: files, unit: '×', better: 'less', bar: 4 },
        ],
      };
    } finally {
      bash.close();
      await pool.destroy();
    }
  },
});
