/** The executor of one cell in a separate process: what a container runs, and backend `local`. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import * as z from 'zod';
import { environmentSchema } from '../../protocol/actions/common.js';
import { pluginSpecSchema } from '../../protocol/plugin-spec.js';
import { hostEnvironment } from '../launchers/host-environment.js';
import { loadPlugins } from '../plugins/load-plugins.js';
import { withPlugins } from '../plugins/plugin-host.js';
import { boot, type KernelReport } from './boot-protocol.js';
import type { ExecutorServer } from './serve-executor.js';
import { shutDownOn } from './shutdown.js';
import { logToStandardError } from './stderr-log.js';

const settingsSchema = z.strictObject({
  id: z.string(),
  socketPath: z.string(),
  /** In the place of a socket, where only ports lead in: on all addresses, for requests to these hosts. */
  tcp: z.strictObject({ port: z.int().min(1).max(65_535), hosts: z.array(z.string()) }).optional(),
  /** Every request must carry it. Without one, any process that reaches the socket may use it. */
  token: z.string().optional(),
  workspace: z.string(),
  env: environmentSchema,
  /** Outlives the process that started it; else it ends with its standard input. */
  keepAlive: z.boolean(),
  /** A port that leads to the socket, where only ports lead inside. */
  tunnel: z
    .strictObject({
      port: z.int().min(1).max(65_535),
      token: z.string().min(16),
      aloneMs: z.int().positive().optional(),
    })
    .optional(),
  /** Default: the plugins of the package. */
  plugins: z.array(pluginSpecSchema).optional(),
  /** Written first, by their paths: plugins of a place that sees no files of its owner. */
  files: z.record(z.string(), z.string()).optional(),
  /** For files of the program itself, so that none of them stays when it dies. */
  temporary: z.string().optional(),
  /** The user of the commands, in a place that has two. Default: the user of the program. */
  user: z
    .strictObject({
      uid: z.int(),
      gid: z.int(),
      home: z.string(),
      /** Descriptors of one process. */
      openFiles: z.int().optional(),
    })
    .optional(),
});

export type CellSettings = z.infer<typeof settingsSchema>;
type UserSettings = CellSettings & { readonly user: NonNullable<CellSettings['user']> };

/** `source` leads to the settings as JSON. `limitMs`: how long standard input may take to bring them. */
export function serveCell(source: string, limitMs?: string): Promise<void> {
  // While the settings are on their way, and a pod may wait long for them. What fails here fails again below.
  if (limitMs !== undefined) void loadForUser().catch(() => {});
  return boot({ source, limitMs: Number(limitMs ?? 0) }, settingsSchema, async (settings) => {
    const kernel = readKernel();
    for (const [path, content] of Object.entries(settings.files ?? {})) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileSync(path, content, { mode: 0o600 });
    }
    const server = await (hasUser(settings) ? serveAsUser(settings) : serveAsSelf(settings));
    const input = settings.keepAlive ? undefined : process.stdin;
    const shutDown = shutDownOn(server, { input, commands: 'end' });
    if (settings.tunnel !== undefined) {
      const { listenForTunnels } = await import('./tunnels.js');
      await listenForTunnels(settings.tunnel, settings.socketPath, () => shutDown(0));
    }
    return { ...(kernel !== undefined && { kernel }) };
  });
}

function hasUser(settings: CellSettings): settings is UserSettings {
  return settings.user !== undefined;
}

async function serveAsSelf(settings: CellSettings): Promise<ExecutorServer> {
  const { startServer } = await import('./start-server.js');
  const { id, socketPath, tcp, token, workspace, env, plugins, temporary } = settings;
  // Commands keep the directory for temporary files that they would have without us.
  const environment = hostEnvironment(env);
  if (temporary !== undefined) process.env.TMPDIR = temporary;
  return startServer({
    id,
    token,
    workspace,
    environment,
    plugins: await loadPlugins(plugins),
    ...(tcp === undefined
      ? { listen: { path: socketPath } }
      : { listen: { host: '0.0.0.0', port: tcp.port }, allowRemote: true, hosts: tcp.hosts }),
    log: logToStandardError,
  });
}

function loadForUser() {
  return Promise.all([
    import('../launchers/uid-launcher.js'),
    import('../executor/create-executor.js'),
    import('../executor/shell/spare.js'),
    import('./serve-executor.js'),
    import('./tunnels.js'),
  ]);
}

async function serveAsUser(settings: UserSettings): Promise<ExecutorServer> {
  const [
    { createUidLauncher, takeUser, uidIsolation },
    { createExecutor },
    { spareShell },
    { serveExecutor },
  ] = await loadForUser();
  const { id, socketPath, token, workspace, user, env } = settings;
  const environment = hostEnvironment(env);
  const plugins = await loadPlugins(settings.plugins);
  let isFirst = true;
  const create = () => {
    if (isFirst) {
      // The directories above it, on both sides, decide who can reach it.
      chmodSync(socketPath, 0o666);
      if (process.getuid?.() !== user.uid) takeUser(user);
    }
    const launcher = createUidLauncher({ workspace, ...user, environment, alone: true });
    const spare = isFirst ? spareShell(launcher) : undefined;
    isFirst = false;
    return withPlugins(createExecutor(launcher, { spare }), launcher, plugins);
  };
  return serveExecutor(create, {
    id,
    token,
    workspace,
    isolation: uidIsolation(user),
    listen: { path: socketPath },
    log: logToStandardError,
  });
}

/** Undefined where there is no process file system. */
function readKernel(): KernelReport | undefined {
  try {
    const status = readFileSync('/proc/self/status', 'latin1');
    const field = (name: string) => new RegExp(`^${name}:\\s*(\\S+)$`, 'm').exec(status)?.[1] ?? '';
    return {
      seccomp: field('Seccomp') === '2',
      noNewPrivileges: field('NoNewPrivs') === '1',
      capabilities: field('CapBnd'),
      version: readFileSync('/proc/version', 'latin1').trim(),
    };
  } catch {
    return undefined;
  }
}
