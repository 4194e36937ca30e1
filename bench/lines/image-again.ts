import { openEngine } from '../../src/backends/engines/docker-engine.js';
import { dockerBuilder } from '../../src/backends/images/index.js';
import { images, startDockerEngine } from '../../test/engines/docker.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

export default defineLine({
  name: 'image-again',
  summary: 'building an image that is there already; floor: two questions to the engine for an image',

  async measure() {
    const engine = await startDockerEngine();
    try {
      const builder = dockerBuilder({ engine: engine.host });
      const { docker } = await openEngine(engine.host);
      const spec = { base: images.bare, extraDeps: 'true' };
      const { name } = await builder.build(spec);
      const timings = await interleave(
        {
          'build again': () => builder.build(spec),
          'two inspects': async () => {
            await docker.getImage(images.bare).inspect();
            await docker.getImage(name).inspect();
          },
        },
        { rounds: 200, warmup: 20 },
      );
      const ratio = timings['build again'].p50 / timings['two inspects'].p50;
      return {
        timings,
        floor: 'two inspects',
        figures: [{ name: 'ratio of p50', value: ratio, unit: '×', better: 'less', bar: 1.5, aim: 1.2 }],
      };
    } finally {
      await engine.stop();
    }
  },
});
