import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createExecutor } from '../../src/cell/executor/create-executor.js';
import { hostEnvironment } from '../../src/cell/launchers/host-environment.js';
import { createHostLauncher } from '../../src/cell/launchers/host-launcher.js';
import { createRuntime } from '../../src/index.js';
import { type Action, parseAction } from '../../src/protocol/index.js';
import { pipedBash } from '../floors.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

export default defineLine({
  name: 'builtin',
  summary: "run ':' in a live shell, in process and in a sandbox; floor: a bash builtin over a pipe",

  async measure() {
    await using cli = await createRuntime({ config: false, backend: 'cli' });
    await using sandbox = await createRuntime({ config: false, backend: 'sandbox' });
    await using unrecorded = await createRuntime({
      config: false,
      backend: 'cli',
      events: { store: 'memory' },
    });
    const folder = mkdtempSync(join(tmpdir(), 'bench-builtin-'));
    const executor = createExecutor(
      createHostLauncher({ workspace: folder, environment: hostEnvironment({}) }),
    );
    const action = parseAction({ action: 'run', command: ':' }) as Action<'run'>;
    const bash = pipedBash();
    try {
      const timings = await interleave(
        {
          cli: () => cli.run(':'),
          sandbox: () => sandbox.run(':'),
          // Where the time goes: without the durable record, and without what the trusted side does at all.
          'cli, events in memory': () => unrecorded.run(':'),
          'executor alone': () => executor.execute(action),
          'builtin over a pipe': () => bash.run(':'),
        },
        { rounds: 3000, warmup: 300 },
      );
      const goal = { unit: 'ms', better: 'less', bar: 0.2, aim: 0.1 } as const;
      return {
        timings,
        floor: 'builtin over a pipe',
        figures: [
          { name: 'p50 in process', value: timings.cli.p50, ...goal },
          { name: 'p50 in a sandbox', value: timings.sandbox.p50, ...goal },
        ],
      };
    } finally {
      bash.close();
      await executor.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
});
