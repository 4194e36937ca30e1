import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createRuntime } from '../../src/index.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';
import { startFileSocket } from './http/file-socket.js';
import { startExecutorProcess } from './http/server.js';

const sizeBytes = 50_000_000;

export default defineLine({
  name: 'transfer',
  summary:
    'a file of 50 MB up and down through the HTTP server; floor: the same file through a raw socket to and from a file',

  async measure() {
    const folder = mkdtempSync(join(tmpdir(), 'bench-transfer-'));
    const from = join(folder, 'from');
    const to = join(folder, 'to');
    writeFileSync(from, Buffer.alloc(sizeBytes, 'some text to send '));
    try {
      await using server = await startExecutorProcess();
      await using runtime = await createRuntime({ backend: 'remote', url: server.url, token: server.token });
      await using socket = await startFileSocket(folder);
      const timings = await interleave(
        {
          up: async () => {
            const sent = await runtime.files.upload(from, 'file');
            if (sent.sizeBytes !== sizeBytes) throw new Error(`${sent.sizeBytes} bytes arrived`);
          },
          'up, raw socket': () => socket.up(from),
          down: async () => {
            const { content } = await runtime.files.download('file');
            await pipeline(content, createWriteStream(to));
          },
          'down, raw socket': () => socket.down(createWriteStream(to)),
        },
        { rounds: 20, warmup: 3 },
      );
      const goal = { unit: '×', better: 'more', bar: 0.5 } as const;
      return {
        timings,
        floor: 'up, raw socket',
        figures: [
          {
            name: 'up, share of the floor',
            value: timings['up, raw socket'].p50 / timings.up.p50,
            ...goal,
          },
          {
            name: 'down, share of the floor',
            value: timings['down, raw socket'].p50 / timings.down.p50,
            ...goal,
          },
        ],
      };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
});
