/** Starts processes in their own namespaces. The executor stays outside, in this process. */
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { removeTree } from '../../../base/remove-tree.js';
import { WorkcellError } from '../../../protocol/index.js';
import type { Launcher } from '../launcher.js';
import { applyLimits, type Enforcement, type Limits } from '../limits/apply-limits.js';
import { closeEnd, openPair, type Referenced } from '../pty.js';
import { makeFleeting } from '../scratch.js';
import type { SeccompOptions } from '../seccomp/index.js';
import { bashInside } from './bash-relay.js';
import type { MountOptions } from './bubblewrap-arguments.js';
import { CellProcesses } from './cell-processes.js';
import { connectInside, connectTo } from './connect-inside.js';
import { makeControl } from './control-directory.js';
import { type Egress, openEgress } from './egress/egress.js';
import { assembleEtc } from './etc.js';
import { Freezer } from './freeze.js';
import { boundedFile, exchangeInside, nodeInside, socketsInside, workspaceInside } from './layout.js';
import { sweepOrphans } from './orphans.js';
import { startCell } from './running-cell.js';
import { Starter } from './starter.js';

export interface BubblewrapOptions extends Pick<MountOptions, 'devices' | 'files' | 'driverInfo' | 'caches'> {
  /** Path of bubblewrap. */
  readonly program: string;
  readonly workspace: string;
  /** Mounts the workspace, in a mount namespace around the cell. */
  readonly mount?: readonly string[] | undefined;
  /** What every process starts with. */
  readonly environment: Readonly<Record<string, string>>;
  readonly rootfs?: string | undefined;
  /** Settings of git for everybody in the cell, unless it has a root file system of its own. */
  readonly gitSettings?: string | undefined;
  readonly network: 'none' | 'host' | Egress;
  readonly readOnly: readonly string[];
  readonly readWrite: readonly string[];
  /** Directories that look empty inside. */
  readonly hidden: readonly string[];
  readonly limits: Limits;
  readonly seccomp?: SeccompOptions | undefined;
  /** Called when the cell takes programs; they start as soon as it can. */
  onStarting?(early: Pick<Launcher, 'bash' | 'openPty'>): void;
}

export interface BubblewrapLauncher extends Launcher, Referenced {
  /** The first process of the cell, as this side numbers it. */
  readonly hostPid: number;
  readonly enforcement: Enforcement;
  /** The files of this machine as the mount namespace around the cell shows them, where it has one of its own. */
  readonly around?: string | undefined;
  /** Settles when the cell ends, for whatever reason, and says how. */
  readonly exited: Promise<string>;
  connect(place: number | string): Promise<Duplex>;
  /** Stops every process of the cell; returns the function that resumes them. */
  freeze(): Promise<() => void>;
}

/** Starts a cell; settles when its first process is ready to start others. */
export async function createBubblewrapLauncher(options: BubblewrapOptions): Promise<BubblewrapLauncher> {
  const exchange = makeFleeting('cell');
  const egress = typeof options.network === 'object' ? options.network : undefined;
  const network = typeof options.network === 'object' ? 'egress' : options.network;
  const enforcement = applyLimits(options.limits, join(exchange, boundedFile), {
    ownNetwork: egress !== undefined,
    mount: options.mount,
  });
  const terminal = openPair(200, 50);
  let starter: Starter | undefined;
  let closeEgress = () => {};
  try {
    if (egress !== undefined && enforcement.namespace.prefix.length === 0) throw noNamespace();
    const control = makeControl(exchange, options.rootfs);
    const cell = await startCell({
      ...options,
      network,
      exchange,
      control: control.path,
      controlMounts: control.mounts,
      etc: assembleEtc(network, options.gitSettings),
      scratchBytes: options.limits.diskBytes,
      enter: (pid) => enforcement.enter(pid),
      prefix: enforcement.prefix,
      ipc: enforcement.namespace.prefix.length > 0 ? 'given' : 'new',
      setup: enforcement.setup,
      terminal: terminal.name,
    });
    const processes = new CellProcesses(cell);
    starter = new Starter({ cell, control: control.path, master: terminal.master, processes });
    const common = {
      bash: bashInside,
      openPty: starter.openPty.bind(starter),
    };
    options.onStarting?.(common);
    const gateway = egress === undefined ? undefined : cell.outside.then((pid) => openEgress(pid, egress));
    gateway?.then(
      (close) => {
        closeEgress = close;
      },
      () => {},
    );
    await cell.ready;
    try {
      await gateway;
    } catch (error) {
      await cell.kill();
      throw error;
    }
    // Stays valid when the process has ended, and never refers to a later one with the same number.
    const root = openSync(`/proc/${cell.hostPid}/root`, 'r');
    const files = `/proc/self/fd/${root}`;
    const around = options.mount && openSync(`/proc/${await cell.outside}/root`, 'r');
    processes.open(`${files}/proc`);
    enforcement.watch(processes);
    sweepOrphans();
    const freezer = new Freezer(cell, () => processes.resumed(() => freezer.frozen() !== undefined));
    let closing: Promise<void> | undefined;

    async function end(): Promise<void> {
      // Waiting for the end of a parked cell must not end the process that waits.
      cell.ref();
      processes.close();
      closeEgress();
      await cell.kill();
      starter?.close();
      closeSync(root);
      if (around !== undefined) closeSync(around);
      removeTree(exchange);
      await enforcement.release();
    }
    const launcher: BubblewrapLauncher = {
      hostPid: cell.hostPid,
      enforcement,
      exited: cell.exited,
      ...(around !== undefined && { around: `/proc/self/fd/${around}` }),
      files: { root: files, mount: '/', workspace: workspaceInside },
      isContained: true,
      ...common,
      exchange: { outside: exchange, inside: exchangeInside },
      sockets: { outside: `${files}${socketsInside}`, inside: socketsInside },
      node: [nodeInside],
      environment: options.environment,
      spawn: starter.spawn.bind(starter),
      connect: (place) =>
        typeof place === 'number'
          ? connectTo(launcher, '127.0.0.1', place)
          : connectInside(launcher.sockets, place),
      dial: (host, port) => connectTo(launcher, host, port),
      freeze: () => freezer.freeze(),
      frozen: () => freezer.frozen(),
      processes: (onGone) => processes.list(onGone),
      signal: (pids, name) => processes.signal(pids, name),
      whileHalted: (work) => freezer.halt(work),
      oomKills: () => enforcement.oomKills(),
      ref() {
        cell.ref();
        starter?.ref();
      },
      unref() {
        cell.unref();
        starter?.unref();
      },
      close() {
        closing ??= end();
        return closing;
      },
    };
    return launcher;
  } catch (error) {
    closeEgress();
    egress?.close();
    if (starter === undefined) closeEnd(terminal.master);
    else starter.close();
    removeTree(exchange);
    await enforcement.release();
    throw error;
  } finally {
    closeEnd(terminal.slave);
  }
}

function noNamespace(): WorkcellError {
  return new WorkcellError(
    'backend-unavailable',
    'Network rules need the program "unshare", and a system that lets it make user namespaces.',
    {
      details: {
        complaint:
          'unshare cannot make user namespaces here; see kernel.apparmor_restrict_unprivileged_userns, or run as root',
      },
    },
  );
}
