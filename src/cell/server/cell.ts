/**
 * The executor inside a container. What it is to serve stands in a file that commands cannot reach. It says in one line on
 * standard output that it listens, with what the kernel enforces on it, and ends when its standard input does.
 */
import { chmodSync, readFileSync, writeSync } from 'node:fs';
import { z } from 'zod';
import { environmentSchema } from '../../protocol/actions/common.js';
import { pluginSpecSchema } from '../../protocol/config.js';
import { errorSchema } from '../../protocol/error-body.js';
import { createExecutor } from '../executor/executor.js';
import { spareShell } from '../executor/shell/spare.js';
import { hostEnvironment } from '../launchers/host-environment.js';
import { createUidLauncher, takeUser, uidIsolation } from '../launchers/uid.js';
import { withPlugins } from '../plugins/host.js';
import { loadPlugins } from '../plugins/load.js';
import { startError } from './errors.js';
import { logToStandardError } from './log.js';
import { serveExecutor } from './server.js';
import { shutDownOn } from './shutdown.js';
import { keepHeapSmall } from './small-heap.js';

const standardOutput = 1;

const settingsSchema = z.strictObject({
  id: z.string(),
  socketPath: z.string(),
  workspace: z.string(),
  home: z.string(),
  user: z.strictObject({ uid: z.int(), gid: z.int() }),
  env: environmentSchema,
  /** Descriptors of one process. */
  openFiles: z.int().optional(),
  /** Outlives the process that started it. */
  keepAlive: z.boolean(),
  /** Default: those of the package. */
  plugins: z.array(pluginSpecSchema).optional(),
});

export type CellSettings = z.infer<typeof settingsSchema>;

/** What the kernel says of the executor itself, before any command ran. */
const kernelSchema = z.object({
  seccomp: z.boolean(),
  noNewPrivileges: z.boolean(),
  /** Capabilities that any process of the container could have, as a bit set in hexadecimal. */
  capabilities: z.string(),
  /** As in /proc/version. */
  version: z.string(),
});

export const greetingSchema = z.union([
  z.object({ ready: z.literal(true), kernel: kernelSchema }),
  z.object({ error: errorSchema }),
]);

export type KernelReport = z.infer<typeof kernelSchema>;

/** `file` holds the settings as JSON. */
export async function serveCell(file: string): Promise<void> {
  keepHeapSmall();
  try {
    const kernel = readKernel();
    const settings = settingsSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
    const { id, socketPath, workspace, user, env, keepAlive } = settings;
    const environment = hostEnvironment(env);
    const plugins = await loadPlugins(settings.plugins);
    let isFirst = true;
    const create = () => {
      if (isFirst) {
        // Who may come here is settled by the directories above it, on both sides.
        chmodSync(socketPath, 0o666);
        if (process.getuid?.() !== user.uid) takeUser(user);
      }
      const launcher = createUidLauncher({ ...settings, ...user, environment, alone: true });
      const spare = isFirst ? spareShell(launcher) : undefined;
      isFirst = false;
      return withPlugins(createExecutor(launcher, { spare }), launcher, plugins);
    };
    const server = await serveExecutor(create, {
      id,
      workspace,
      isolation: uidIsolation(user),
      listen: { path: socketPath },
      log: logToStandardError,
    });
    shutDownOn(server, { input: keepAlive ? undefined : process.stdin, commands: 'end' });
    say({ ready: true, kernel });
  } catch (error) {
    say({ error: startError(error) });
    process.exitCode = 1;
  }
}

function readKernel(): KernelReport {
  const status = readFileSync('/proc/self/status', 'latin1');
  const field = (name: string) => new RegExp(`^${name}:\\s*(\\S+)$`, 'm').exec(status)?.[1] ?? '';
  return {
    seccomp: field('Seccomp') === '2',
    noNewPrivileges: field('NoNewPrivs') === '1',
    capabilities: field('CapBnd'),
    version: readFileSync('/proc/version', 'latin1').trim(),
  };
}

/** Its one line; a stream for it would have to be loaded first. */
function say(greeting: z.input<typeof greetingSchema>): void {
  writeSync(standardOutput, `${JSON.stringify(greeting)}\n`);
}
