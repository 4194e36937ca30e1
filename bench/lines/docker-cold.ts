import { images, startDockerEngine } from '../../scripts/engines/docker.js';
import { createRuntime, type Runtime } from '../../src/index.js';
import { rawSpawn } from '../floors.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

export default defineLine({
  name: 'docker-cold',
  summary: 'a container from nothing to its first command answered; floor: docker run of the same image',

  async measure() {
    const engine = await startDockerEngine();
    try {
      const cell = { backend: 'docker', config: false, engine: engine.host, image: images.bare } as const;
      const floor = 'docker run --rm … true';
      let runtime: Runtime | undefined;
      const timings = await interleave(
        {
          'create + first command': async () => {
            runtime = await createRuntime(cell);
            await runtime.run('true');
          },
          close: () => runtime?.close(),
          [floor]: () =>
            rawSpawn('docker', ['--host', engine.host, 'run', '--rm', '--network=none', images.bare, 'true']),
        },
        { rounds: 15, warmup: 2 },
      );
      const ratio =
        (timings['create + first command']?.p50 ?? Number.NaN) / (timings[floor]?.p50 ?? Number.NaN);
      return {
        timings,
        floor,
        figures: [{ name: 'ratio of p50', value: ratio, unit: '×', better: 'less', bar: 1.5 }],
      };
    } finally {
      await engine.stop();
    }
  },
});
