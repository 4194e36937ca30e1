/**
 * Limits on resources that the kernel counts for a user and not for a process: inotify, timers, message queues,
 * System V memory.
 *
 * A cell has the user of its caller, so without these limits it could take everything that this user may have, from
 * the caller and from its other cells. Each cell gets a quarter. A process can set the limits of a user and an IPC
 * namespace only from inside, so we make the namespaces, and limit them, before bubblewrap starts in them.
 */
import { existsSync, readFileSync } from 'node:fs';
import { findHostProgram, hostProgram } from '../../../base/find-program.js';
import type { Limits } from './apply-limits.js';

export interface NamespaceLimits {
  readonly limits: {
    readonly inotifyInstances: number;
    readonly inotifyWatches: number;
    /** Timers and queued signals. */
    readonly timers: number;
    /** Of POSIX message queues. */
    readonly queueBytes: number;
    /** Of System V segments. */
    readonly segmentBytes: number | null;
  };
  /** Words to put before the bubblewrap command; empty where we cannot make namespaces ahead of it. */
  readonly prefix: readonly string[];
  /** Shell statements inside. */
  readonly setup: readonly string[];
  /** True when the kernel took every value. Ask when the cell runs. */
  isSet(): boolean;
}

export interface NamespaceOptions {
  /**
   * Also make the network namespace here, outside of the user namespace that bubblewrap makes, so that nothing in the
   * cell has power over it.
   */
  readonly ownNetwork?: boolean;
  /** Shell commands that mount something, in a mount namespace that ends with the cell. */
  readonly mount?: readonly string[] | undefined;
}

/** `mark`: path of a file that appears when the kernel took every value. */
export function namespaceLimits(
  { memoryBytes }: Limits,
  whole: readonly (keyof Limits)[],
  mark: string,
  { ownNetwork = false, mount = [] }: NamespaceOptions = {},
): NamespaceLimits {
  const user = shareOfUser();
  // Where a control group counts memory it counts segments too. Where none does, they stay a small part of it.
  const part = whole.includes('memoryBytes') ? 1 : 8;
  const segmentBytes = memoryBytes === undefined ? null : Math.floor(memoryBytes / part);
  const { inotifyInstances, inotifyWatches, timers, queueBytes } = user;
  return {
    limits: { ...user, segmentBytes },
    prefix: boundedNamespaces(mark, ownNetwork, mount, {
      'user/max_inotify_instances': inotifyInstances,
      'user/max_inotify_watches': inotifyWatches,
      ...(segmentBytes !== null && { 'kernel/shmall': Math.ceil(segmentBytes / pageBytes) }),
      // Kernel memory, which only control groups count: at most 4 MiB of messages, and sets of semaphores to match.
      'kernel/msgmni': 256,
      'kernel/sem': '250 32000 100 128',
    }),
    setup: [`ulimit -i ${timers}`, `ulimit -q ${queueBytes}`],
    isSet: () => existsSync(mark),
  };
}

const pageBytes = 4096;

function boundedNamespaces(
  mark: string,
  ownNetwork: boolean,
  mount: readonly string[],
  settings: Readonly<Record<string, number | string>>,
): string[] {
  const unshare = mayUnshare() ? findHostProgram('unshare') : undefined;
  if (unshare === undefined) return [];
  const writes = Object.entries(settings).map(([name, value]) => `echo ${value} >/proc/sys/${name}`);
  const settle = `{ ${writes.join(' && ')} && : >"$1"; } 2>/dev/null; shift;`;
  const source = [settle, ...mount.map((command) => `${command} || exit;`), 'exec "$@"'].join(' ');
  const namespaces = [
    '--user',
    '--ipc',
    ...(ownNetwork ? ['--net'] : []),
    ...(mount.length > 0 ? ['--mount'] : []),
    '--map-root-user',
  ];
  return [unshare, ...namespaces, '--', hostProgram('sh'), '-c', source, 'sh', mark];
}

let allowed: boolean | undefined;

/** Some systems let only programs that they know by name make user namespaces; bubblewrap is one of them. */
function mayUnshare(): boolean {
  allowed ??=
    process.getuid?.() === 0 || read('/proc/sys/kernel/apparmor_restrict_unprivileged_userns').trim() !== '1';
  return allowed;
}

type Share = Omit<NamespaceLimits['limits'], 'segmentBytes'>;

let share: Share | undefined;

/** A quarter of what the user of this process may have, but no more than programs need. */
function shareOfUser(): Share {
  share ??= {
    inotifyInstances: quarter(Number(read('/proc/sys/user/max_inotify_instances')), 128),
    inotifyWatches: quarter(Number(read('/proc/sys/user/max_inotify_watches')), 131_072),
    timers: quarter(resourceLimit('pending signals'), 4096),
    queueBytes: quarter(resourceLimit('msgqueue size'), 819_200),
  };
  return share;
}

function quarter(all: number, most: number): number {
  return all > 0 ? Math.min(most, Math.max(1, Math.floor(all / 4))) : most;
}

/** The hard one. */
function resourceLimit(name: string): number {
  const [, value = ''] =
    new RegExp(`^Max ${name}\\s+\\S+\\s+(\\S+)`, 'm').exec(read('/proc/self/limits')) ?? [];
  return Number(value);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
