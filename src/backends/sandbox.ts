/** Runs everything in namespaces of its own on this machine, with bubblewrap. The executor is in this process. */
import { explain, findObstacle } from '../cell/launchers/bubblewrap/obstacles.js';
import { withPlugins } from '../cell/plugins/host.js';
import { describeFact, WorkcellError } from '../protocol/index.js';
import { defineBackend, type Probe } from './backend.js';
import { startSandbox } from './sandbox/cell.js';
import { type SandboxOptions, sandboxOptions } from './sandbox/options.js';
import { takeSandbox } from './sandbox/pool.js';

export default defineBackend({
  type: 'sandbox',
  options: sandboxOptions,

  /** Starts a cell and looks at what is enforced on it: what a file says would be a guess. */
  async probe(): Promise<Probe> {
    const obstacle = await findObstacle();
    if (obstacle !== undefined) return { available: false, tier: 'none', ...obstacle };
    try {
      const cell = await startSandbox(trial);
      await cell.stop();
      const { tier, facts } = cell.isolation;
      const summary = facts.map(describeFact).join(' ');
      // What is not limited here may be in a cell that is started with other options.
      const settled = facts.filter(({ values }) => !('limit' in values) || values.limit !== null);
      return { available: tier !== 'none', tier, facts: settled, summary, advice: [] };
    } catch (error) {
      return { available: false, tier: 'none', ...explain(complaintOf(error)) };
    }
  },

  async start(options, { id, signal, plugins = [] }) {
    const { launcher, ...cell } = await takeSandbox(options);
    if (signal?.aborted) {
      await cell.stop();
      throw new WorkcellError('cancelled', 'The start of the sandbox was cancelled.');
    }
    const executor = withPlugins(cell.executor, launcher, plugins);
    return {
      id,
      ...cell,
      executor,
      async stop() {
        // What plugins started ends with the cell; what they hold on this side is let go of afterwards.
        await cell.stop();
        await executor.close();
      },
    };
  },
});

const trial: SandboxOptions = { network: 'none', limits: {}, readOnly: [], readWrite: [], env: {} };

function complaintOf(error: unknown): string {
  if (WorkcellError.isInstance(error)) return String(error.details.complaint ?? error.message);
  return error instanceof Error ? error.message : String(error);
}
