/**
 * The server as a child of backend `local`. It is told what to serve through descriptor 3, so that the token stands in
 * no argument and no environment, says on descriptor 4 that it listens, and ends when its standard input does.
 */
import { closeSync, readFileSync, writeSync } from 'node:fs';
import { z } from 'zod';
import { environmentSchema } from '../../protocol/actions/common.js';
import { pluginSpecSchema } from '../../protocol/config.js';
import { hostEnvironment } from '../launchers/host-environment.js';
import { loadPlugins } from '../plugins/load.js';
import { startError } from './errors.js';
import { logToStandardError } from './log.js';
import { shutDownOn } from './shutdown.js';
import { keepHeapSmall } from './small-heap.js';
import { startServer } from './start.js';

const settingsDescriptor = 3;
const readyDescriptor = 4;

const settingsSchema = z.strictObject({
  id: z.string(),
  socketPath: z.string(),
  token: z.string(),
  workspace: z.string(),
  env: environmentSchema,
  /** What the server itself makes goes here, so that nothing of it stays when it is killed. */
  temporary: z.string(),
  /** Outlives the process that started it. */
  keepAlive: z.boolean(),
  plugins: z.array(pluginSpecSchema),
});

export type ChildSettings = z.infer<typeof settingsSchema>;

export async function serveLocal(): Promise<void> {
  const text = readFileSync(settingsDescriptor, 'utf8');
  closeSync(settingsDescriptor);
  // A starter that went away before it said what to serve wants nothing any more.
  if (text === '') process.exit(0);

  keepHeapSmall();
  try {
    const { socketPath, keepAlive, temporary, env, plugins, ...settings } = settingsSchema.parse(
      JSON.parse(text),
    );
    // Commands keep the directory for temporary files that they would have without us.
    const environment = hostEnvironment(env);
    process.env.TMPDIR = temporary;
    const server = await startServer({
      ...settings,
      environment,
      plugins: await loadPlugins(plugins),
      listen: { path: socketPath },
      log: logToStandardError,
    });
    shutDownOn(server, { input: keepAlive ? undefined : process.stdin, commands: 'end' });
    say({ ready: true });
  } catch (error) {
    say({ error: startError(error) });
    process.exit(1);
  }
}

function say(line: object): void {
  writeSync(readyDescriptor, `${JSON.stringify(line)}\n`);
  closeSync(readyDescriptor);
}
