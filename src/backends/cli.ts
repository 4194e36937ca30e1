/** Runs everything in this process and on this machine, without isolation. File verbs stay in the workspace. */
import { z } from 'zod';
import { createExecutor } from '../cell/executor/create-executor.js';
import { hostEnvironment } from '../cell/launchers/host-environment.js';
import { createHostLauncher, hostIsolation } from '../cell/launchers/host-launcher.js';
import { withPlugins } from '../cell/plugins/plugin-host.js';
import { environmentSchema } from '../protocol/actions/common.js';
import { defineBackend } from './backend.js';
import { openWorkspace } from './workspace.js';

const userSchema = z.strictObject({
  uid: z.int().nonnegative(),
  gid: z.int().nonnegative(),
  /** Programs such as sudo may give the user more rights. */
  mayGain: z.boolean().default(false),
});

export default defineBackend({
  type: 'cli',
  options: {
    /** Default: a temporary directory that the backend removes at the end. */
    workspace: z.string().min(1).optional(),
    env: environmentSchema.default({}),
    /** What file verbs reach. */
    files: z.enum(['workspace', 'machine']).default('workspace'),
    /**
     * The user who runs the commands and owns the files, for a process of root. Holds for everything that the process
     * does meanwhile.
     */
    runAs: userSchema.optional(),
  },

  async probe() {
    return {
      available: true,
      tier: 'none',
      summary: 'Runs commands directly on this machine, with no isolation.',
      advice: [],
    };
  },

  async start({ workspace: given, env, files, runAs }, { id, recording, plugins = [] }) {
    const workspace = openWorkspace(given);
    const place = { workspace: workspace.path, environment: hostEnvironment(env) };
    // The record belongs to the first user, and only that user can open it.
    if (runAs !== undefined) await recording?.();
    const user = runAs === undefined ? undefined : await becomeUser(runAs);
    const host = user === undefined ? createHostLauncher(place) : user.createLauncher(place);
    const launcher =
      files === 'workspace' ? host : { ...host, files: { root: '/', mount: '/', workspace: workspace.path } };
    const executor = withPlugins(createExecutor(launcher), launcher, plugins);
    return {
      id,
      backend: 'cli',
      executor,
      isolation: hostIsolation({ files, uid: runAs?.uid }),
      workspace: workspace.path,
      async stop() {
        await executor.close();
        user?.leave();
        await workspace.dispose();
      },
    };
  },
});

/** From here on everything that this process creates belongs to that user. */
async function becomeUser(user: z.infer<typeof userSchema>) {
  const { createUidLauncher, resumeRoot, takeUser } = await import('../cell/launchers/uid-launcher.js');
  const { loadParts } = await import('../cell/executor/load-parts.js');
  await loadParts();
  takeUser(user);
  return {
    createLauncher: (place: { workspace: string; environment: Readonly<Record<string, string>> }) =>
      createUidLauncher({ ...place, ...user }),
    leave: resumeRoot,
  };
}
