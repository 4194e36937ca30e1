/** Runs everything in this process and on this machine, without isolation. File verbs stay in the workspace. */
import { z } from 'zod';
import { createExecutor } from '../cell/executor/executor.js';
import { createHostLauncher } from '../cell/launchers/host.js';
import { hostEnvironment } from '../cell/launchers/host-environment.js';
import { withPlugins } from '../cell/plugins/host.js';
import { environmentSchema } from '../protocol/actions/common.js';
import type { Isolation } from '../protocol/index.js';
import { defineBackend } from './backend.js';
import { openWorkspace } from './workspace.js';

const isolation: Isolation = {
  tier: 'none',
  facts: [
    {
      name: 'processes',
      enforced: false,
      detail: 'Commands run as the calling user, with all that user may do.',
    },
    {
      name: 'files',
      enforced: false,
      detail: 'File verbs stay in the workspace; commands are not held there.',
    },
    { name: 'network', enforced: false, detail: 'Commands have the network of this machine.' },
  ],
};

export default defineBackend({
  type: 'cli',
  options: {
    /** Default: a temporary directory that is removed at the end. */
    workspace: z.string().min(1).optional(),
    env: environmentSchema.default({}),
  },

  async probe() {
    return {
      available: true,
      tier: 'none',
      summary: 'Runs commands directly on this machine, with no isolation.',
      advice: [],
    };
  },

  async start({ workspace: given, env }, { id, plugins = [] }) {
    const workspace = openWorkspace(given);
    const launcher = createHostLauncher({
      workspace: workspace.path,
      environment: hostEnvironment(env),
    });
    const executor = withPlugins(createExecutor(launcher), launcher, plugins);
    return {
      id,
      backend: 'cli',
      executor,
      isolation,
      workspace: workspace.path,
      async stop() {
        await executor.close();
        await workspace.dispose();
      },
    };
  },
});
