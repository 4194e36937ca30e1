/** Starts an OpenHands V0 server on this machine. */
import { mkdirSync, realpathSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { createExecutor } from '../../cell/executor/executor.js';
import { createHostLauncher } from '../../cell/launchers/host.js';
import { createUidLauncher, takeUser, type User } from '../../cell/launchers/uid.js';
import { withPlugins } from '../../cell/plugins/host.js';
import { type LoadedPlugin, loadPlugins } from '../../cell/plugins/load.js';
import { isLoopback } from '../../cell/server/access.js';
import type { PluginSpec } from '../../protocol/config.js';
import { type Executor, WorkcellError } from '../../protocol/index.js';
import { shellSession } from './action-server.js';
import { createOpenHandsApp, type OpenHandsOptions } from './app.js';
import { type AskedUser, provideUser } from './user.js';

export interface OpenHandsExtras {
  /** `false` leaves the browser out. */
  readonly browser?: boolean | undefined;
  /** `true` puts the agent skills into the namespace of code cells. */
  readonly agentSkills?: boolean | undefined;
  /** Where browsers reach the editor, which is left out without it. */
  readonly vscodePort?: number | undefined;
}

export interface ServeOpenHandsOptions extends OpenHandsOptions, OpenHandsExtras {
  readonly host: string;
  readonly port: number;
  /** Does without a key, so that all who reach the port may use it. */
  readonly allowAnonymous?: boolean | undefined;
  /** Who commands run as and files belong to. Default: the user of this process. */
  readonly user?: AskedUser | undefined;
  /** Variables of the commands. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface OpenHandsServer {
  /** The real one when 0 was asked for. */
  readonly port: number;
  /** Ends all commands. Succeeds when called twice. */
  close(): Promise<void>;
}

/** What the server has besides the actions of every executor. */
export function openHandsPlugins({
  browser = true,
  agentSkills = false,
  vscodePort,
  host = '127.0.0.1',
}: OpenHandsExtras & { readonly host?: string | undefined } = {}): PluginSpec[] {
  const startup = agentSkills ? 'from agentskills import *' : '';
  return [
    ...(browser ? ['browser'] : []),
    ...(agentSkills ? ['agent-skills'] : []),
    ...(vscodePort === undefined ? [] : [{ name: 'vscode', options: { host, port: vscodePort } }]),
    'mcp',
    { name: 'jupyter', options: { session: shellSession, startup } },
  ];
}

/** Listens only when everything works, because clients take an open port for a server that is ready. */
export async function serveOpenHands(options: ServeOpenHandsOptions): Promise<OpenHandsServer> {
  checkExposure(options);
  const workingDirectory = makeWorkingDirectory(options.workingDirectory);
  const user = options.user === undefined ? undefined : provideUser(options.user, workingDirectory);
  const executor = createOpenHandsExecutor(
    workingDirectory,
    options.environment,
    await loadPlugins(openHandsPlugins(options)),
    user,
  );
  const hosts = [...(options.hosts ?? []), options.host];
  const app = createOpenHandsApp(executor, { ...options, workingDirectory, hosts });
  try {
    await app.listen({ host: options.host, port: options.port });
  } catch (cause) {
    await executor.close();
    if (WorkcellError.isInstance(cause)) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WorkcellError(
      'backend-unavailable',
      `The server cannot listen on ${options.host}:${options.port}: ${reason}.`,
      { cause },
    );
  }
  let closing: Promise<void> | undefined;
  return {
    port: (app.server.address() as AddressInfo).port,
    close() {
      closing ??= app.close().then(() => executor.close());
      return closing;
    },
  };
}

/** Commands and file verbs reach the whole machine, as they reach the whole container in the original. */
export function createOpenHandsExecutor(
  workingDirectory: string,
  environment: Readonly<Record<string, string>>,
  plugins: readonly LoadedPlugin[],
  user?: User,
): Executor {
  const place = { workspace: workingDirectory, environment };
  // From here on all that this process makes belongs to that user.
  if (user !== undefined) takeUser(user);
  const host = user === undefined ? createHostLauncher(place) : createUidLauncher({ ...place, ...user });
  const launcher = { ...host, files: { root: '/', mount: '/', workspace: workingDirectory } };
  return withPlugins(createExecutor(launcher), launcher, plugins);
}

/** Members of its group may write to it. */
function makeWorkingDirectory(given: string): string {
  const path = resolve(given);
  try {
    mkdirSync(path, { recursive: true, mode: 0o775 });
    return realpathSync(path);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WorkcellError('invalid-config', `The working directory cannot be used: ${reason}.`, { cause });
  }
}

function checkExposure({ host, sessionApiKey, allowAnonymous }: ServeOpenHandsOptions): void {
  if (sessionApiKey !== undefined || allowAnonymous) return;
  const reach = isLoopback(host) ? 'every user of this machine' : 'others';
  throw new WorkcellError(
    'invalid-config',
    `Listening on ${host} without a key would let ${reach} run commands here. Set SESSION_API_KEY.`,
    { details: { host } },
  );
}
