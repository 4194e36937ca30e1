/** Archives that the cell made, taken out of it and unpacked in it again. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Round } from '../cell.js';
import type { Surface } from './surface.js';

const deadlineMs = 5000;

export const archives: Surface = {
  backends: ['sandbox', 'docker'],
  mostBytes: 256 << 20,

  async warmUp(round) {
    await this.round(round);
  },

  async round(round) {
    const { runtime, inside, seed, random, answered } = round;
    await runtime.write('sentinel', 'untouched');
    await answered('run', 20_000, () =>
      runtime.run('chmod -R u+rwx target; rm -rf target archive; mkdir target', { timeoutMs: 20_000 }),
    );
    const format = random.pick(['tar', 'zip'] as const);
    await answered('making an archive', 20_000, () =>
      runtime.run(inside('archives', seed, 'archive', format), { timeoutMs: 20_000 }),
    );
    const before = await namesIn(round);
    const told = await answered('unpacking', deadlineMs, async (signal) => {
      const { content } = await runtime.files.download('archive', { signal });
      return runtime.files.upload(content, 'target', { format, signal });
    });
    await expectInside(round, before, told?.files);
    await answered('packing it again', deadlineMs, async (signal) => {
      const { content } = await runtime.files.download('target', { format, signal });
      for await (const chunk of content) if (chunk.length === 0) break;
    });
  },
};

async function namesIn({ outside }: Round): Promise<string> {
  return outside === undefined ? '' : (await readdir(outside)).sort().join('\n');
}

/** Nothing beside the target changed, and it holds at most what the answer told. */
async function expectInside(round: Round, before: string, files: number | undefined): Promise<void> {
  const { outside, claim } = round;
  if (outside === undefined) return;
  const after = await namesIn(round);
  claim(after === before, `unpacking changed what is beside the target: ${JSON.stringify(after)}`);
  const sentinel = await readFile(join(outside, 'sentinel'), 'utf8').catch(String);
  claim(sentinel === 'untouched', `unpacking wrote to a file beside the target: ${sentinel.slice(0, 80)}`);
  if (files === undefined) return;
  const there = await readdir(join(outside, 'target')).catch(() => []);
  claim(files === 0 || there.length > 0, `${files} files were told to be unpacked, and none is there`);
}
