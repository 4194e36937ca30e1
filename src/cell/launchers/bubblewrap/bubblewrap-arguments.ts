/** The command line of bubblewrap for one cell. */
import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { cellUser, exchangeInside, nodeInside, terminalInside, workspaceInside } from './layout.js';

/** Its own loopback and nothing else, the network of this machine, or what a gateway decides. */
export type CellNetworkKind = 'none' | 'host' | 'egress';

/** A path of this machine, and where the cell sees it. */
export interface Bind {
  readonly source: string;
  readonly inside: string;
}

export interface MountOptions {
  /** The caller's directory that the cell sees as its workspace. */
  readonly workspace: string;
  readonly exchange: string;
  /** Further mounts, over places in the exchange directory. */
  readonly controlMounts: readonly string[];
  /** The inner end of a terminal of this machine, which the cell sees as its console. */
  readonly terminal: string;
  /** The assembled `/etc`, and the directories of the host's that it shows. */
  readonly etc: { readonly path: string; readonly shared: readonly string[] };
  /** A directory with a system in it, used in place of this machine's own. */
  readonly rootfs?: string | undefined;
  /** `egress`: bubblewrap starts in a network namespace that already belongs to the cell. */
  readonly network: CellNetworkKind;
  /** `given`: bubblewrap starts in an IPC namespace that already belongs to the cell. */
  readonly ipc: 'given' | 'new';
  /** Host paths that the cell sees at the same place. */
  readonly readOnly: readonly string[];
  readonly readWrite: readonly string[];
  /** Directories that the cell writes to at another place than this machine. */
  readonly caches?: readonly Bind[] | undefined;
  /** Device nodes besides those that every cell has. */
  readonly devices?: readonly Bind[] | undefined;
  /** Files that the cell reads at another place than this machine. */
  readonly files?: readonly Bind[] | undefined;
  /** Everything that the cell sees below `/proc/driver`; without it, this machine's own. */
  readonly driverInfo?: readonly Bind[] | undefined;
  /** Directories that look empty inside, because of what they hold on this machine. */
  readonly hidden: readonly string[];
  /** Size of each of the cell's memory file systems; half of the machine's memory without one. */
  readonly scratchBytes?: number | undefined;
}

/** Descriptors that bubblewrap reads the filter from and writes the number of the cell's first process to. */
export interface Descriptors {
  readonly seccomp: number;
  readonly info: number;
}

export function bubblewrapArguments(options: MountOptions, descriptors: Descriptors): string[] {
  return [
    ...isolation(options),
    '--seccomp',
    String(descriptors.seccomp),
    '--info-fd',
    String(descriptors.info),
    ...system(options),
    '--proc',
    '/proc',
    // To the kernel's settings the cell of a root caller is root: they ask for the user, not for a capability.
    '--ro-bind',
    '/proc/sys',
    '/proc/sys',
    ...drivers(options),
    '--dev',
    '/dev',
    '--dev-bind',
    options.terminal,
    terminalInside,
    ...(options.devices ?? []).flatMap(({ source, inside }) => ['--dev-bind', source, inside]),
    ...scratch(options, '/dev/shm'),
    '--remount-ro',
    '/dev',
    ...scratch(options, '/tmp'),
    ...scratch(options, cellUser.home),
    ...options.readOnly.flatMap((path) => ['--ro-bind', path, path]),
    ...options.readWrite.flatMap((path) => ['--bind', path, path]),
    ...(options.caches ?? []).flatMap(({ source, inside }) => ['--bind', source, inside]),
    '--bind',
    options.workspace,
    workspaceInside,
    ...options.hidden.flatMap((path) => ['--size', '4096', '--tmpfs', path, '--remount-ro', path]),
    '--ro-bind',
    options.exchange,
    exchangeInside,
    ...options.controlMounts,
    ...ownNode(options),
    ...readable(options.files),
    '--remount-ro',
    '/',
    '--chdir',
    workspaceInside,
  ];
}

function isolation({ network, ipc }: MountOptions): string[] {
  return [
    '--unshare-user',
    '--unshare-pid',
    ...(ipc === 'new' ? ['--unshare-ipc'] : []),
    '--unshare-uts',
    '--unshare-cgroup-try',
    ...(network === 'none' ? ['--unshare-net'] : []),
    '--die-with-parent',
    // Nothing inside can kill the first process, whatever a command does to all it can see.
    '--as-pid-1',
    '--uid',
    String(cellUser.uid),
    '--gid',
    String(cellUser.gid),
    '--hostname',
    'cell',
    '--cap-drop',
    'ALL',
  ];
}

/** Some drivers take orders there from root outside the cell, with or without capabilities. */
function drivers({ driverInfo }: MountOptions): string[] {
  if (driverInfo === undefined) return [];
  return ['--tmpfs', '/proc/driver', ...readable(driverInfo), '--remount-ro', '/proc/driver'];
}

function readable(binds: readonly Bind[] = []): string[] {
  return binds.flatMap(({ source, inside }) => ['--ro-bind', source, inside]);
}

function system({ rootfs, etc, network }: MountOptions): string[] {
  const own = ['passwd', 'group', ...(network === 'egress' ? ['resolv.conf'] : [])];
  if (rootfs !== undefined) return foreignSystem(rootfs, etc.path, own);
  return [
    '--ro-bind',
    '/usr',
    '/usr',
    ...ownTopEntries(),
    '--ro-bind',
    etc.path,
    '/etc',
    ...etc.shared.flatMap((path) => ['--ro-bind', path, path]),
    '--ro-bind-try',
    '/opt',
    '/opt',
    '--symlink',
    '../tmp',
    '/var/tmp',
  ];
}

/** The Node of this process, by a link where the cell has it anyway: each mount takes a fifth of a millisecond. */
function ownNode({ rootfs }: MountOptions): string[] {
  const { execPath } = process;
  const seen = rootfs === undefined && execPath.startsWith('/usr/');
  return [seen ? '--symlink' : '--ro-bind-try', execPath, nodeInside];
}

let topEntries: string[] | undefined;

/** Looked up once: the layout of a system does not change while it runs. */
function ownTopEntries(): string[] {
  topEntries ??= ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'].flatMap((name) => topEntry('/', name));
  return topEntries;
}

/** What the cell brings itself, whatever a root file system has. */
const own = new Set(['dev', 'home', 'proc', 'run', 'sys', 'tmp', 'workspace']);

/** Mounts its entries one by one, because it cannot create the mount points of the cell's own directories in it. */
function foreignSystem(rootfs: string, etc: string, replaced: readonly string[]): string[] {
  const present = replaced.filter((name) => lstatSync(join(rootfs, 'etc', name), quiet)?.isFile());
  return [
    ...readdirSync(rootfs)
      .filter((name) => !own.has(name))
      .flatMap((name) => topEntry(rootfs, name)),
    // Programs look up their user, and the resolver for addresses.
    ...present.flatMap((name) => ['--ro-bind', join(etc, name), `/etc/${name}`]),
  ];
}

const quiet = { throwIfNoEntry: false } as const;

/** `/bin` and its like are links into `/usr` on most systems and directories on some. */
function topEntry(root: string, name: string): string[] {
  const path = join(root, name);
  const stats = lstatSync(path, quiet);
  if (stats === undefined) return [];
  return stats.isSymbolicLink()
    ? ['--symlink', readlinkSync(path), `/${name}`]
    : ['--ro-bind', path, `/${name}`];
}

function scratch({ scratchBytes }: MountOptions, path: string): string[] {
  const size = scratchBytes === undefined ? [] : ['--size', String(scratchBytes)];
  return [...size, '--perms', path === cellUser.home ? '0700' : '1777', '--tmpfs', path];
}
