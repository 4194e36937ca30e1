/**
 * Runs everything in its own namespaces on this machine, with bubblewrap. The executor is in this process, or in a
 * keeper.
 */
import { resolve } from 'node:path';
import { cellEnvironment } from '../cell/launchers/bubblewrap/layout.js';
import { explain, findBubblewrap, findObstacle } from '../cell/launchers/bubblewrap/obstacles.js';
import { withPlugins } from '../cell/plugins/plugin-host.js';
import { WorkcellError } from '../protocol/index.js';
import { defineBackend, type Probe } from './backend.js';
import { pausable } from './pausable.js';
import { noSecretPool } from './pool.js';
import { callerPrograms } from './sandbox/caller-programs.js';
import { canOverlay } from './sandbox/overlay.js';
import { type SandboxOptions, sandboxOptions } from './sandbox/sandbox-options.js';
import { takeSandbox } from './sandbox/sandbox-pool.js';
import { startSandbox } from './sandbox/start-sandbox.js';

export default defineBackend({
  type: 'sandbox',
  options: sandboxOptions,

  /** Starts a cell and looks at what it enforces; reading a file instead would be a guess. */
  async probe(): Promise<Probe> {
    const obstacle = await findObstacle();
    if (obstacle !== undefined) return { available: false, tier: 'none', ...obstacle };
    try {
      const cell = await startSandbox(trial);
      await cell.stop();
      const { tier, facts } = cell.isolation;
      const summary =
        'Runs commands in namespaces of their own on this machine, with no network unless allowed.';
      // A cell with other options may limit what this one does not.
      const settled = facts.filter(({ values }) => !('limit' in values) || values.limit !== null);
      return { available: tier !== 'none', tier, facts: settled, summary, advice: [] };
    } catch (error) {
      return { available: false, tier: 'none', ...explain(complaintOf(error)) };
    }
  },

  mayStart: () => process.platform === 'linux' && findBubblewrap() !== undefined,

  overlays: canOverlay,

  async start(given, context) {
    const options = withCallerPrograms(given);
    checkCaches(options);
    const { id, signal, plugins = [], networkSecrets = [] } = context;
    if (options.keepAlive || options.keeper !== false) {
      checkKeepable(options);
      return (await import('./sandbox/kept.js')).startKept(options, context);
    }
    const { overlay } = context;
    const isSecretive = networkSecrets.length > 0;
    if (isSecretive && options.pool !== undefined) throw noSecretPool();
    const { launcher, ...cell } = await (overlay === undefined && !isSecretive
      ? takeSandbox(options)
      : startSandbox(options, { overlay, networkSecrets }));
    if (signal?.aborted) {
      await cell.stop();
      throw new WorkcellError('cancelled', 'The start of the sandbox was cancelled.');
    }
    const executor = withPlugins(cell.executor, launcher, plugins);
    const gate = pausable(executor, launcher.freeze);
    return {
      id,
      ...cell,
      executor: gate.executor,
      pause: gate.pause,
      resume: gate.resume,
      async stop() {
        // The end of the cell ends what plugins started; release their resources on this side afterwards.
        await cell.stop();
        await executor.close();
      },
    };
  },

  attach: async (id, place, context) => (await import('./sandbox/kept.js')).attachKept(id, place, context),
  stats: async (id, place, context) => (await import('./sandbox/kept.js')).keptStats(id, place, context),
  list: async () => (await import('./sandbox/kept.js')).listKept(),
});

/** Resolve them here, in the caller's process: a keeper has another environment. */
function withCallerPrograms(options: SandboxOptions): SandboxOptions {
  const { rootfs, readOnly, readWrite, workspace, env } = options;
  // Programs of this machine need not run on another system.
  if (options.programs === 'system' || rootfs !== undefined) return options;
  const writable = workspace === undefined ? readWrite : [resolve(workspace), ...readWrite];
  const { mounts, path } = callerPrograms({ writable });
  if (path.length === 0) return options;
  const PATH = [...path, cellEnvironment.PATH].join(':');
  return { ...options, readOnly: [...readOnly, ...mounts], env: { PATH, ...env } };
}

function checkCaches({ caches, workspace }: SandboxOptions): void {
  if (caches.length === 0 || workspace !== undefined) return;
  throw new WorkcellError(
    'invalid-config',
    'Caches belong to a workspace, so that no cell leaves anything for the cells of others. Name a workspace, or leave out caches.',
    { details: { option: 'caches' } },
  );
}

function checkKeepable({ pool }: SandboxOptions): void {
  if (pool === undefined) return;
  throw new WorkcellError(
    'invalid-config',
    'A pool cannot hold cells of a keeper. Leave out pool, or keepAlive and keeper.',
  );
}

const trial: SandboxOptions = {
  network: 'none',
  limits: {},
  gpu: false,
  readOnly: [],
  readWrite: [],
  programs: 'system',
  caches: [],
  env: {},
  keepAlive: false,
  keeper: false,
};

function complaintOf(error: unknown): string {
  if (WorkcellError.isInstance(error)) return String(error.details.complaint ?? error.message);
  return error instanceof Error ? error.message : String(error);
}
