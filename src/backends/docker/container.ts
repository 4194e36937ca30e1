/** What we ask of the engine: a container with as little as an executor and its commands need. */

import { realpathSync } from 'node:fs';
import { noRetries } from '../../base/no-network.js';
import { ownBelow } from '../../base/own-below.js';
import { processorList } from '../../cell/launchers/limits/processors.js';
import type { CellSettings } from '../../cell/server/serve-cell.js';
import type { ContainerDescription, Mount } from '../engines/docker-client.js';
import { type GpuRequest, noGpus } from '../gpu-option.js';
import { bundleMount, type ExecutorBundle } from '../images/bundle/executor-bundle.js';
import type { ShippedPlugins } from '../shipped-plugins.js';
import type { ContainerNetwork } from './container-network.js';
import { type DockerOptions, userLimits, withDefaults } from './docker-options.js';
import { seccompProfile } from './seccomp/profile.js';
import { readVolume, toMount } from './volumes.js';

/** Only the user of the executor enters it. */
const privateInside = '/run/workcell';
export const workspaceInside = '/workspace';
const homeInside = '/home/workcell';

/** Where the executor listens, in a directory that this side sees too where it can. */
export const socketInside = `${privateInside}/wire/s`;

/** Plugins from outside this package. No user in the container can write there. */
export const pluginsInside = `${privateInside}/plugins`;

/**
 * Settings of the executor, beside it. An engine shows the variables of a container, and some kernels show them to
 * every process.
 */
export const settingsName = 'settings.json';

/**
 * How many threads to allow the engine for this many processes. The threads of the executor and of its first process
 * come on top. In gVisor a process takes several threads of the machine, and gVisor's own kernel ends, with the cell,
 * when it gets none.
 */
function hostPids(pids: number, ociRuntime: string | undefined): number {
  return isGvisorName(ociRuntime) ? pids * 10 + 256 : pids + 16;
}

function isGvisorName(ociRuntime: string | undefined): boolean {
  return ociRuntime?.startsWith('runsc') ?? false;
}

/**
 * The user that runs the executor. Commands run as the owner of the workspace. If that is root, the executor runs as
 * another user: root without capabilities can neither signal another user nor look into its memory or directories.
 */
export function executorUser({ uid }: ContainerParts['user'], ociRuntime: string | undefined): number {
  // gVisor has no ambient capabilities, so only root can keep any there.
  return uid === 0 && !isGvisorName(ociRuntime) ? notRoot : 0;
}

const notRoot = 65_533;

/** Leaves the executor the two capabilities, and the programs that it starts no way to get any. */
function keepOnlyOwn(executor: number): string[] {
  const asRoot = ['setpriv', '--inh-caps=+setuid,+setgid', '--', 'setpriv', '--bounding-set=-all', '--'];
  if (executor === 0) return asRoot;
  const user = [`--reuid=${executor}`, `--regid=${executor}`, '--clear-groups'];
  return [...asRoot, 'setpriv', ...user, '--ambient-caps=+setuid,+setgid', '--'];
}

/** Gives the user of the commands what the engine creates for root, before the executor drops the right to do so. */
function handOver(paths: readonly string[], { uid, gid }: ContainerParts['user']): string[] {
  const source =
    'owner=$1; shift; while [ "$1" != -- ]; do chown "$owner" "$1"; shift; done; shift; exec "$@"';
  return paths.length === 0 ? [] : ['bash', '-c', source, 'bash', `${uid}:${gid}`, ...paths, '--'];
}

export interface ContainerParts {
  readonly id: string;
  readonly options: DockerOptions;
  readonly user: { readonly uid: number; readonly gid: number };
  /** Directories of the workspace hand their group down. */
  readonly setgidFiles: boolean;
  /** Labels of ours. */
  readonly labels: Readonly<Record<string, string>>;
  /** Paths of this machine. */
  readonly workspace: string;
  readonly wire: string;
  readonly resolver: string;
  readonly ruled?: ContainerNetwork | undefined;
  readonly overlays: string;
  /** Mount points of volumes that the engine makes with the cell. */
  readonly newVolumes: readonly string[];
  readonly bundle: ExecutorBundle;
  /** The engine runs on this machine. */
  readonly isLocal: boolean;
  readonly shipped: ShippedPlugins;
  /** The directory of this machine that has their files. */
  readonly plugins: string;
}

export function cellSettings({ id, options, user, shipped, ruled }: ContainerParts): CellSettings {
  const { env, keepAlive, limits, network } = options;
  const isAlone = network === 'none' && ruled === undefined;
  return {
    id,
    socketPath: socketInside,
    workspace: workspaceInside,
    user: {
      ...user,
      home: homeInside,
      ...(limits.openFiles !== undefined && { openFiles: limits.openFiles }),
    },
    env: { ...(isAlone && noRetries), ...ruled?.variables, ...env, ...ruled?.placeholders },
    keepAlive,
    plugins: [...shipped.specs],
  };
}

export function describeContainer(parts: ContainerParts): ContainerDescription {
  const { id, options, user, workspace, newVolumes } = parts;
  const isRoot = user.uid === 0;
  const executor = executorUser(user, options.ociRuntime);
  const isApart = executor !== user.uid;
  const { keepAlive, network, ports } = options;
  const limits = withDefaults(options.limits);
  const size = `,size=${limits.diskBytes},nr_inodes=${inodes(limits.diskBytes)}`;
  const own = `uid=${user.uid},gid=${user.gid}`;
  const program = [...parts.bundle.command(), 'cell', `${privateInside}/wire/${settingsName}`];
  return {
    name: options.name ?? `workcell-${id}`,
    Image: options.image,
    ...(options.platform !== undefined && { platform: options.platform }),
    Labels: { ...options.labels, ...parts.labels },
    User: '0:0',
    WorkingDir: '/',
    Env: options.gpu === false ? [`${noGpus.name}=${noGpus.value}`] : [],
    Entrypoint: [
      ...(isRoot ? [] : handOver(newVolumes, user)),
      ...(isApart ? keepOnlyOwn(executor) : []),
      ...program,
    ],
    Cmd: [],
    AttachStdin: !keepAlive,
    AttachStdout: true,
    AttachStderr: true,
    OpenStdin: !keepAlive,
    // Its input ends when we disconnect, and so does the executor.
    StdinOnce: !keepAlive,
    ExposedPorts: Object.fromEntries(ports.map(({ container }) => [`${container}/tcp`, {}])),
    HostConfig: {
      Init: true,
      AutoRemove: !keepAlive,
      ReadonlyRootfs: !options.writableSystem,
      CapDrop: ['ALL'],
      // For becoming the user of the commands, which the commands cannot undo.
      CapAdd: [
        ...(isApart ? ['SETUID', 'SETGID', 'SETPCAP'] : []),
        ...(!isRoot && newVolumes.length > 0 ? ['CHOWN'] : []),
      ],
      SecurityOpt: ['no-new-privileges', `seccomp=${seccompProfile({ setgidFiles: parts.setgidFiles })}`],
      NetworkMode: network,
      PortBindings: Object.fromEntries(
        ports.map(({ container, host }) => [
          `${container}/tcp`,
          [{ HostIp: '127.0.0.1', HostPort: host === 0 ? '' : String(host) }],
        ]),
      ),
      IpcMode: 'private',
      Memory: limits.memoryBytes,
      MemorySwap: limits.memoryBytes,
      ...(limits.cpus !== undefined && {
        NanoCpus: Math.round(limits.cpus * 1e9),
        // Programs that count processors then start as many threads as can run.
        ...(parts.isLocal && { CpusetCpus: processorList(Math.ceil(limits.cpus)) }),
      }),
      PidsLimit: hostPids(limits.pids, options.ociRuntime),
      ShmSize: limits.diskBytes,
      Ulimits: [
        hardLimit('core', 0),
        hardLimit('sigpending', userLimits.timers),
        hardLimit('msgqueue', userLimits.queueBytes),
      ],
      Tmpfs: {
        [privateInside]: `rw,nosuid,nodev,noexec,size=65536,mode=0700,uid=${executor},gid=${executor}`,
        '/tmp': `rw,nosuid,nodev,exec,mode=1777${size}`,
        '/var/tmp': `rw,nosuid,nodev,exec,mode=1777${size}`,
        [homeInside]: `rw,nosuid,nodev,exec,mode=0700,${own}${size}`,
        ...(parts.isLocal && covers(parts)),
      },
      Mounts: [
        { Type: 'bind', Source: parts.wire, Target: `${privateInside}/wire` },
        readOnly(parts.bundle.directory, bundleMount),
        ...(parts.shipped.files.size > 0 ? [readOnly(parts.plugins, pluginsInside)] : []),
        { Type: 'bind', Source: workspace, Target: workspaceInside },
        // The engine would tell the container which resolver this machine uses.
        ...(network === 'none' ? [readOnly(parts.resolver, '/etc/resolv.conf')] : []),
        ...(parts.ruled?.files ?? []).map(({ source, inside }) => readOnly(source, inside)),
        ...options.volumes.map((volume, index) => toMount(volume, `${parts.overlays}/${index}`)),
      ],
      ...(options.ociRuntime !== undefined && { Runtime: options.ociRuntime }),
      ...(options.gpu !== false && { DeviceRequests: [deviceRequest(options.gpu)] }),
      LogConfig: { Type: 'json-file', Config: { 'max-size': '1m', 'max-file': '1' } },
    },
  };
}

/** The engine passes it to the machine's runtime for GPUs of any vendor. */
export function deviceRequest(gpu: Exclude<GpuRequest, false>): Readonly<Record<string, unknown>> {
  const common = { Driver: '', Capabilities: [['gpu']] };
  if (typeof gpu === 'object') return { ...common, DeviceIDs: gpu.map(String) };
  return { ...common, Count: gpu === true ? -1 : gpu };
}

/** Hides the directories of this side where the cell would see them. */
function covers({ workspace, options }: ContainerParts): Record<string, string> {
  const binds = options.volumes.map(readVolume).filter(({ kind }) => kind !== 'named');
  const shown = [{ source: workspace, target: workspaceInside }, ...binds];
  const hidden = ownBelow(
    shown.map(({ source, target }) => ({ source: realpathSync(source), inside: target })),
  );
  return Object.fromEntries(hidden.map((path) => [path, 'ro,nosuid,nodev,noexec,size=4096']));
}

function hardLimit(name: string, value: number): { Name: string; Soft: number; Hard: number } {
  return { Name: name, Soft: value, Hard: value };
}

function readOnly(source: string, target: string): Mount {
  return { Type: 'bind', Source: source, Target: target, ReadOnly: true };
}

/** An entry takes a kilobyte of memory, which the size of the files does not count. */
function inodes(diskBytes: number): number {
  return Math.max(1024, Math.ceil(diskBytes / 4096));
}
