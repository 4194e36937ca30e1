/**
 * Our executor as a program: any command that leads to a place can start it, and any stream of bytes can reach it
 * there.
 */
import { randomBytes } from 'node:crypto';
import { pluginSpecs } from '../cell/plugins/load-plugins.js';
import { actionsWith } from '../cell/plugins/plugin-host.js';
import type { KernelReport } from '../cell/server/boot-protocol.js';
import type { CellSettings } from '../cell/server/serve-cell.js';
import type { Observation } from '../protocol/index.js';
import type { PluginSpec } from '../protocol/plugin-spec.js';
import type { ServerInfo } from '../protocol/wire.js';
import type { Place } from '../runtime/client/connect-ways.js';
import { connectExecutor, type HttpExecutor } from '../runtime/client/http-executor.js';
import type { StartContext } from './backend.js';
import { programWords } from './programs.js';
import { type ServerProcess, startProgram } from './server-process.js';

/**
 * Words that run the program on this machine; `cell` or `relay <socket>` follow. For a place with other files,
 * `executorBundle` of `workcell/images` has the same in a directory that works on any glibc system.
 */
export function executorCommand(): string[] {
  // In one file where there is a build, which loads several times as fast.
  return [process.execPath, ...programWords('cell/main', 'cjs')];
}

/** The settings of an executor: where it works and where it listens. Its id and plugins come from the start. */
export type ExecutorSettings = Omit<CellSettings, 'id' | 'plugins'>;

/** How to start the executor of a cell in its place. */
export interface ExecutorStart {
  /** Words that run the program in the place, such as `nsenter … node executor.cjs`. They pass on its standard streams. */
  readonly argv: readonly string[];
  readonly settings: ExecutorSettings;
  /** Where `argv` runs on this machine. */
  readonly directory: string;
  /** Where its log goes. A kept executor needs it, because nothing reads its standard error. */
  readonly logFile?: string | undefined;
  /**
   * The plugins to load, from `shipPlugins` for a place that sees no files of this machine. Default: those of this
   * machine.
   */
  readonly plugins?: readonly PluginSpec[] | undefined;
}

/** An executor that listens. */
export interface StartedExecutor {
  /** The process of `argv`, which may be only the way to the program. */
  readonly process: ServerProcess;
  /** What the kernel enforces on the executor, as it says itself. */
  readonly kernel: KernelReport | undefined;
}

/** Starts the executor of a cell and waits until it listens. Ends it when the start fails. */
export async function startExecutor(
  { argv, settings, directory, logFile, plugins: shipped }: ExecutorStart,
  { id, signal, plugins = [] }: StartContext,
): Promise<StartedExecutor> {
  const specs = shipped ?? pluginSpecs(plugins);
  const server = startProgram({ who: 'The executor', argv: [...argv, 'cell'], directory, logFile });
  try {
    const { kernel } = await server.begin({ ...settings, id, plugins: specs }, signal);
    return { process: server, kernel };
  } catch (error) {
    await server.end();
    throw error;
  }
}

/** What reaching an executor takes besides its place. */
export interface ReachOptions {
  /** The token in the settings of the executor. */
  readonly token?: string | undefined;
  /** What the way to it asks of every request, such as the token of a proxy. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Settles with the reason when the place has certainly ended, so that nobody waits for it. */
  readonly gone?: Promise<string> | undefined;
  /** While the place is paused: settles when it continues. */
  readonly halted?: (() => Promise<void> | undefined) | undefined;
}

/** Where an executor is: a Unix socket, a URL, or a function that opens a stream to it. */
export type ExecutorPlace = Place;

/** Connects to the executor of a cell. */
export function reachExecutor(
  place: ExecutorPlace,
  options: ReachOptions,
  { signal, plugins = [] }: StartContext,
): Promise<{ executor: HttpExecutor; info: ServerInfo }> {
  return connectExecutor(place, { ...options, signal, actions: actionsWith(plugins) });
}

/** What the cell of an executor uses: one look, over a connection of its own. */
export async function executorStats(
  place: ExecutorPlace,
  options: Pick<ReachOptions, 'token' | 'headers'> & { signal: AbortSignal | undefined },
): Promise<Observation<'stats'>> {
  const { signal } = options;
  const { executor } = await connectExecutor(place, options);
  try {
    return await executor.execute<'stats'>({ action: 'stats' }, { signal });
  } finally {
    await executor.disconnect();
  }
}

/** A secret that every request to an executor must carry. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}
