/** Our executor as a program: started by whatever leads to a place, and reached there over any stream of bytes. */
import { randomBytes } from 'node:crypto';
import { pluginSpecs } from '../cell/plugins/load-plugins.js';
import { actionsWith } from '../cell/plugins/plugin-host.js';
import type { KernelReport } from '../cell/server/boot-protocol.js';
import type { CellSettings } from '../cell/server/serve-cell.js';
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
  // In one file where it was built, which loads several times as fast.
  return [process.execPath, ...programWords('cell/main', 'cjs')];
}

/** What an executor is told: where it works and where it listens. Its id and plugins come from the start. */
export type ExecutorSettings = Omit<CellSettings, 'id' | 'plugins'>;

/** How the executor of a cell is started in its place. */
export interface ExecutorStart {
  /** Words that run the program in the place, such as `nsenter … node executor.cjs`. They pass on its standard streams. */
  readonly argv: readonly string[];
  readonly settings: ExecutorSettings;
  /** Where `argv` is run on this machine. */
  readonly directory: string;
  /** Where its log goes. Demanded of an executor that is kept alive, because nobody reads its standard error. */
  readonly logFile?: string | undefined;
  /** What it loads, as `shipPlugins` gives it for a place that sees no files of this machine. Default: what this machine has. */
  readonly plugins?: readonly PluginSpec[] | undefined;
}

/** An executor that listens. */
export interface StartedExecutor {
  /** What runs `argv`, which may be only the way to the program. */
  readonly process: ServerProcess;
  /** What the kernel enforces on the executor, as it says itself. */
  readonly kernel: KernelReport | undefined;
}

/** Starts the executor of a cell and waits until it listens. What did not start is ended. */
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

/** What it takes to reach an executor besides where it is. */
export interface ReachOptions {
  /** The one in the settings of the executor. */
  readonly token?: string | undefined;
  /** Settles with the reason when the place is known to be gone, so that nobody waits for it. */
  readonly gone?: Promise<string> | undefined;
  /** While the place is paused: settles when it goes on. */
  readonly halted?: (() => Promise<void> | undefined) | undefined;
}

/** Where an executor is: a Unix socket, a URL, or anything that gives a stream leading to it. */
export type ExecutorPlace = Place;

/** Connects to the executor of a cell. */
export function reachExecutor(
  place: ExecutorPlace,
  options: ReachOptions,
  { signal, plugins = [] }: StartContext,
): Promise<{ executor: HttpExecutor; info: ServerInfo }> {
  return connectExecutor(place, { ...options, signal, actions: actionsWith(plugins) });
}

/** A secret that every request to an executor must carry. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}
