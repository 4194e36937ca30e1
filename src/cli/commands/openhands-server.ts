import { randomBytes } from 'node:crypto';
import { userInfo } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Runtime } from '../../index.js';
import type { Log } from '../log.js';
import { type CellOptions, collect, withCellOptions } from '../options.js';
import { type TrustedOptions, takeTrusted, withTrustedOptions } from '../trusted-options.js';

interface OpenHandsServerOptions extends CellOptions, TrustedOptions {
  workingDir: string;
  plugins: string[];
  username: string;
  userId: number;
  enableBrowser: boolean;
  browsergymEvalEnv?: string;
  host: string;
  allowHost: string[];
  allowAnonymous?: true;
}

const pluginNames = ['jupyter', 'agent_skills', 'vscode'];

const notes = `
Takes the arguments of the OpenHands V0 action-execution server. Clients send
the key in SESSION_API_KEY as X-Session-API-Key; with none set, one is made up
and printed. NO_CHANGE_TIMEOUT_SECONDS is the soft timeout of the shell. With
the plugin vscode, browsers reach the editor on VSCODE_PORT.

Without a backend, commands and files are those of this machine, with no
isolation: meant for the inside of a container. Started as root with --username,
the server then runs commands as that user, who is made if missing and gets the
working directory. With a backend, the working directory is the workspace of a cell
there. It listens on loopback unless --host names another address.

An action that the client sent as awaiting_confirmation or rejected is not
executed. With --guard rules neither is one of high risk, by the rules or by
its security_risk.

Examples:
  $ SESSION_API_KEY=… workcell openhands-server 8701 --working-dir ./w --no-enable-browser
  $ workcell openhands-server 8701 --working-dir ./w --backend sandbox --guard rules
  $ workcell openhands-server 8701 --working-dir /workspace --plugins agent_skills --username root --user-id 0`;

/** `workcell openhands-server`: a cell, or this machine, for clients of OpenHands V0. */
export function openHandsServerCommand(): Command {
  const command = new Command('openhands-server').description('Serve a cell to clients of OpenHands V0');
  return withTrustedOptions(withCellOptions(command, { workspace: false }))
    .argument('<port>', 'port to listen on; 0 takes any', parsePort)
    .requiredOption('--working-dir <directory>', 'where the shell starts; made if it is missing')
    .addOption(
      new Option('--plugins <names...>', 'plugins that clients ask for').choices(pluginNames).default([]),
    )
    .option('--username <name>', 'user that the client expects', 'openhands')
    .option('--user-id <number>', 'id of that user', parseUserId, 1000)
    .option('--enable-browser', 'have a browser, started at its first use', true)
    .option('--no-enable-browser', 'do without a browser')
    .option('--browsergym-eval-env <name>', 'fails: tasks of BrowserGym are not there')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--allow-host <name>', 'host name that requests may name; may be repeated', collect, [])
    .option('--allow-anonymous', 'do without a key, also when none is set')
    .addHelpText('after', notes)
    .action(serve);
}

async function serve(port: number, options: OpenHandsServerOptions, command: Command): Promise<void> {
  const { WorkcellError } = await import('../../protocol/index.js');
  if (options.browsergymEvalEnv !== undefined)
    throw new WorkcellError(
      'capability-unsupported',
      'This server has no BrowserGym tasks to evaluate a browser with.',
    );
  const { makeWorkingDirectory, thisMachine } = await import('../../compat/openhands-v0/machine.js');
  const { openHandsPlugins } = await import('../../compat/openhands-v0/plugins.js');
  const { serveOpenHands } = await import('../../compat/openhands-v0/serve.js');
  const { keepHeapSmall } = await import('../../cell/server/small-heap.js');
  const { watchInterrupts } = await import('../interrupts.js');
  const { startRuntime } = await import('../start.js');
  keepHeapSmall();
  // Taken out of the environment before anything that could pass it on to commands is started.
  const given = process.env.SESSION_API_KEY || undefined;
  delete process.env.SESSION_API_KEY;
  const sessionApiKey = given ?? (options.allowAnonymous ? undefined : randomBytes(24).toString('hex'));
  // The names that hold without being given would make an account on a machine that has none of it.
  const named = ['username', 'userId'].some((name) => command.getOptionValueSource(name) === 'cli');
  const user = named && process.getuid?.() === 0 ? userOf(options) : undefined;
  const trusted = await takeTrusted(options);
  using interrupts = watchInterrupts();
  const plugins = openHandsPlugins({
    host: options.host,
    browser: options.enableBrowser,
    agentSkills: options.plugins.includes('agent_skills'),
    vscodePort: options.plugins.includes('vscode') ? vscodePort(process.env.VSCODE_PORT) : undefined,
  });
  const workspace = makeWorkingDirectory(options.workingDir);
  const { runtime, log, end } = await startRuntime({ ...options, workspace }, interrupts.signal, {
    ...trusted,
    plugins,
    place: () => thisMachine(workspace, user),
  });
  try {
    warn(options, runtime, log);
    const server = await serveOpenHands(runtime, {
      host: options.host,
      port,
      workingDirectory: runtime.workspace,
      sessionApiKey,
      allowAnonymous: options.allowAnonymous,
      hosts: options.allowHost,
      noChangeSeconds: softTimeout(process.env.NO_CHANGE_TIMEOUT_SECONDS),
    });
    try {
      if (given === undefined && sessionApiKey !== undefined)
        process.stdout.write(`session key: ${sessionApiKey}\n`);
      const host = options.host.includes(':') ? `[${options.host}]` : options.host;
      process.stdout.write(`listening on http://${host}:${server.port}\n`);
      await new Promise((resolve) => interrupts.signal.addEventListener('abort', resolve, { once: true }));
    } finally {
      await server.close();
    }
  } finally {
    await end();
  }
  process.exitCode = interrupts.exitCode() === 143 ? 0 : interrupts.exitCode();
}

/** Tells about what a client asks for and does not get. */
function warn({ plugins, username }: OpenHandsServerOptions, { backend }: Runtime, log: Log): void {
  if (plugins.includes('vscode') && vscodePort(process.env.VSCODE_PORT) === undefined)
    log('warn', 'The plugin vscode is disabled: VSCODE_PORT does not say where browsers are to reach it.');
  if (backend !== 'cli') return;
  const own = userInfo().username;
  if (process.geteuid?.() === process.getuid?.() && own !== username)
    log('warn', 'Commands run as the user who started the server.', { user: own, asked: username });
}

function vscodePort(text: string | undefined): number | undefined {
  return text === undefined || text === '' ? undefined : parsePort(text);
}

function userOf({ username, userId }: OpenHandsServerOptions): { name: string; uid: number } {
  if (/^[a-z_][a-z0-9_-]{0,31}$/.test(username)) return { name: username, uid: userId };
  throw new InvalidArgumentError(`"${username}" cannot be the name of a user.`);
}

function softTimeout(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const seconds = Number(text);
  if (seconds > 0) return seconds;
  throw new InvalidArgumentError('NO_CHANGE_TIMEOUT_SECONDS must be a number of seconds above 0.');
}

function parsePort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError('Give a port, a number up to 65535.');
  return Number(text);
}

function parseUserId(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError('Give the number of a user.');
  return Number(text);
}
