/** From a cell that waits in a pool to its first command answered. */
import type { Runtime } from '../src/index.js';
import { rawSpawn } from './floors.js';
import type { Measured } from './line.js';
import { interleave } from './measure.js';

export async function measurePooled({
  create,
  fill,
  ...options
}: {
  readonly create: () => Promise<Runtime>;
  readonly fill: () => Promise<void>;
  readonly rounds: number;
  readonly bar: number;
  readonly aim: number;
}): Promise<Measured> {
  // The first one finds the pool empty and has it filled.
  await using _first = await create();
  await fill();
  let runtime: Runtime | undefined;
  const timings = await interleave(
    {
      'create + first command': async () => {
        runtime = await create();
        await runtime.run('true');
      },
      "spawn('/bin/true')": () => rawSpawn('/bin/true'),
      close: () => runtime?.close(),
      'refill of the pool': fill,
    },
    { rounds: options.rounds, warmup: Math.ceil(options.rounds / 10) },
  );
  const { p50 } = timings['create + first command'];
  const { bar, aim } = options;
  return {
    timings,
    floor: "spawn('/bin/true')",
    figures: [{ name: 'p50', value: p50, unit: 'ms', better: 'less', bar, aim }],
  };
}
