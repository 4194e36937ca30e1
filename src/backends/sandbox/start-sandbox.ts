/** Starts one sandbox: its workspace, its processes and the executor that works in it. */
import { realpathSync } from 'node:fs';
import { noRetries } from '../../base/no-network.js';
import { ownBelow } from '../../base/own-below.js';
import { runtimeDirectory, temporaryDirectory } from '../../base/own-directory.js';
import { createExecutor } from '../../cell/executor/create-executor.js';
import { SpareShell } from '../../cell/executor/shell/spare.js';
import {
  type BubblewrapLauncher,
  createBubblewrapLauncher,
} from '../../cell/launchers/bubblewrap/bubblewrap-launcher.js';
import { familyOf } from '../../cell/launchers/bubblewrap/cell-processes.js';
import {
  cellEnvironment,
  cellUser,
  socketsInside,
  workspaceInside,
} from '../../cell/launchers/bubblewrap/layout.js';
import { readIsolation } from '../../cell/launchers/bubblewrap/namespace-facts.js';
import { explain, findBubblewrap, findObstacle } from '../../cell/launchers/bubblewrap/obstacles.js';
import { prepareFifos } from '../../cell/launchers/fifo.js';
import { prepareSpawner } from '../../cell/launchers/spawner.js';
import type { CellExecutor } from '../../cell/plugins/plugin-cell.js';
import { type Cell, type NetworkSecret, WorkcellError } from '../../protocol/index.js';
import { openRules } from '../../protocol/network/open-rules.js';
import type { WorkspaceOverlay } from '../backend.js';
import { openGateway } from '../open-gateway.js';
import { handsGroupDown, openWorkspace } from '../workspace.js';
import { callerGitSettings } from './git-identity.js';
import { giveGpu } from './gpu/give-gpu.js';
import type { GpuRoots } from './gpu/gpu-roots.js';
import { overlayCommands } from './overlay.js';
import { pythonEnvironment, workspaceEnvironment } from './python-environment.js';
import { type SandboxOptions, withDefaults } from './sandbox-options.js';

export type SandboxCell = Omit<Cell, 'id' | 'executor'> & {
  readonly executor: CellExecutor;
  readonly launcher: BubblewrapLauncher;
};

interface Surroundings {
  /** Where to look for GPUs. Default: on this machine. */
  readonly gpuRoots?: GpuRoots | undefined;
  /** What the cell sees as its workspace, in place of the directory itself. */
  readonly overlay?: WorkspaceOverlay | undefined;
  readonly networkSecrets?: readonly NetworkSecret[] | undefined;
  /** What the caller's environment says, where that is another process. Default: this one's. */
  readonly caller?:
    | { readonly gitSettings?: string | undefined; readonly cacheDirectory: string }
    | undefined;
}

export async function startSandbox(
  options: SandboxOptions,
  { gpuRoots, overlay, networkSecrets = [], caller }: Surroundings = {},
): Promise<SandboxCell> {
  const { env } = options;
  // The first cell of a process waits for both, so let them start beside all else.
  prepareSpawner();
  prepareFifos();
  const rootfs = options.rootfs === undefined ? undefined : existing(options.rootfs);
  const rules = options.network === 'open' ? openRules : options.network;
  const gateway =
    typeof rules === 'object'
      ? await openGateway(rules, { workspace: options.workspace, secrets: networkSecrets })
      : undefined;
  const network = gateway ?? (rules === 'none' ? 'none' : 'host');
  const limits = withDefaults(options.limits);
  const path = env.PATH ?? cellEnvironment.PATH ?? '';
  const python = options.python === undefined ? undefined : pythonEnvironment(options.python, path);
  const readOnly = [...options.readOnly, ...(python?.directories ?? [])].map(existing);
  const readWrite = options.readWrite.map(existing);
  const { gpus, devices, files, driverInfo, ...gpu } = giveGpu(options.gpu, { rootfs, roots: gpuRoots });
  const workspace = openWorkspace(options.workspace);
  const opened = gateway?.opened;
  const trust =
    opened && (await import('../trust-files.js')).layTrust(opened, { isOwnSystem: rootfs === undefined });
  const ownPython =
    rootfs === undefined
      ? workspaceEnvironment(workspace.path, { path, seen: [...readOnly, ...readWrite] })
      : undefined;
  const environment = gpu.environment({
    ...cellEnvironment,
    ...(network === 'none' && noRetries),
    ...trust?.variables,
    ...env,
    ...(python?.variables ?? ownPython),
    ...opened?.placeholders,
  });
  const setgidFiles = handsGroupDown(workspace.path);
  const isCallers = !workspace.isTemporary && !isWorkcells(workspace.path);
  const gitSettings = async () =>
    caller === undefined ? callerGitSettings(workspace.path) : caller.gitSettings;
  let launcher: BubblewrapLauncher | undefined;
  let spare: SpareShell | undefined;
  try {
    const caches =
      isCallers && overlay === undefined && options.caches.length > 0
        ? await (await import('./caches.js')).openCaches(
            options.caches,
            workspace.path,
            caller?.cacheDirectory,
          )
        : [];
    launcher = await createBubblewrapLauncher({
      program: findBubblewrap() ?? 'bwrap',
      workspace: overlay?.merged ?? workspace.path,
      ...(overlay !== undefined && { mount: overlayCommands(overlay) }),
      environment,
      network,
      rootfs,
      devices,
      files: [...files, ...(trust?.files ?? [])],
      driverInfo,
      readOnly,
      readWrite,
      caches,
      gitSettings: isCallers && rootfs === undefined ? await gitSettings() : undefined,
      hidden: ownBelow([
        ...[...readOnly, ...readWrite].map((path) => ({ source: path, inside: path })),
        ...(workspace.isTemporary ? [] : [{ source: workspace.path, inside: workspaceInside }]),
      ]),
      limits,
      seccomp: { setgidFiles },
      // Most cells run commands, so start their shell while we still inspect the cell.
      onStarting(early) {
        spare = new SpareShell(early, { cwd: workspaceInside, environment });
      },
    });
    const { hostPid, enforcement, exited } = launcher;
    const isolation = readIsolation({
      hostPid,
      network: typeof network === 'object' ? 'egress' : network,
      limits,
      enforcement,
      readWrite: [...readWrite, ...caches.map(({ inside }) => inside)],
      isTemporary: !isCallers || overlay !== undefined,
      isLimited: overlay?.limit !== undefined,
      setgidFiles,
      gpus,
    });
    const executor = createExecutor(launcher, { spare });
    let stopping = false;
    return {
      backend: 'sandbox',
      executor,
      launcher,
      isolation,
      network: gateway,
      workspace: workspaceInside,
      ...(overlay !== undefined && { workspaceRoot: `${launcher.files.root}${workspaceInside}` }),
      ...(overlay?.limit !== undefined && { workspaceUpper: `${launcher.around}${overlay.upper}` }),
      otherPlaces: {
        home: `${launcher.files.root}${cellUser.home}`,
        tmp: `${launcher.files.root}${socketsInside}`,
      },
      processes: () => familyOf(hostPid),
      lost: new Promise((resolve) => {
        void exited.then((how) => {
          if (!stopping) resolve(`The sandbox ended by itself (${how}).`);
        });
      }),
      async stop() {
        stopping = true;
        // The whole cell ends at once, so the executor need not find and end processes itself.
        const ended = launcher?.close();
        await executor.close();
        await ended;
        trust?.remove();
        await workspace.dispose();
      },
    };
  } catch (error) {
    await launcher?.close();
    trust?.remove();
    await workspace.dispose();
    throw await explained(error);
  }
}

/** A copy of a workspace, or an empty one, that this package made for one cell. */
function isWorkcells(path: string): boolean {
  return [temporaryDirectory(), runtimeDirectory()].some((own) => path.startsWith(`${own.path}/`));
}

/** Resolve a mounted path here: the kernel would follow a link, and the report should say where to. */
function existing(path: string): string {
  try {
    return realpathSync(path);
  } catch (cause) {
    throw new WorkcellError('invalid-config', `The sandbox cannot mount ${path}: it does not exist.`, {
      details: { path },
      cause,
    });
  }
}

async function explained(error: unknown): Promise<unknown> {
  if (!WorkcellError.isInstance(error) || error.code !== 'backend-unavailable') return error;
  const complaint = String(error.details.complaint ?? error.message);
  const { summary, advice } = (await findObstacle()) ?? explain(complaint);
  return new WorkcellError('backend-unavailable', [summary, ...advice].join('\n  '), {
    details: { complaint, advice: [...advice] },
    cause: error,
  });
}
