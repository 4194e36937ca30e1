import { userInfo } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { speaker } from '../../compat/messages.js';
import { defaultMessages } from '../../compat/openhands-v0/openhands-messages.js';
import type { Runtime } from '../../index.js';
import { type AlsoOptions, addTools, mountsOf, withAlso } from '../also.js';
import type { Log } from '../cli-log.js';
import { type MessagesOptions, messagesOf, withMessages } from '../messages-option.js';
import {
  exposureOf,
  parsePort,
  type ServerOptions,
  takeToken,
  withServerOptions,
} from '../server-options.js';
import { takeTrusted } from '../trusted-options.js';

interface OpenHandsServerOptions extends ServerOptions, AlsoOptions, MessagesOptions {
  workingDir: string;
  plugins: string[];
  username: string;
  userId: number;
  enableBrowser: boolean;
  browsergymEvalEnv?: string;
  host: string;
  allowAnonymous?: true;
  allowSudo?: true;
}

const pluginNames = ['jupyter', 'agent_skills', 'vscode'];

const notes = `
Takes the arguments of the OpenHands V0 action-execution server. Clients send
the key in SESSION_API_KEY as X-Session-API-Key; without it the server makes one
and prints it. NO_CHANGE_TIMEOUT_SECONDS is the soft timeout of the shell. With
the plugin vscode, browsers reach the editor on VSCODE_PORT.

Without a backend, commands and files are those of this machine, with no
isolation: use that inside a container. If root starts it with --username, the
server runs commands as that user; it makes a missing one and gives it the
working directory. --allow-sudo lets that user gain rights, those of this server
too, so give it only where the container is the limit. With a backend, the working directory is the workspace of a
cell. It listens on loopback unless --host names another address.

Agents may look for the words of the original. --messages replaces any text of
this server: a JSON object from key to text, in the form that --print-messages
prints, with {values} in it.

An action with awaiting_confirmation or rejected does not run. With --guard rules
neither does one of high risk, by the rules or by its security_risk.

Examples:
  $ SESSION_API_KEY=… workcell openhands-server 8701 --working-dir ./w --no-enable-browser
  $ workcell openhands-server 8701 --working-dir ./w --backend sandbox --guard rules
  $ workcell openhands-server 8701 --working-dir /workspace --plugins agent_skills --username root --user-id 0`;

/** `workcell openhands-server`: a cell, or this machine, for clients of OpenHands V0. */
export function openHandsServerCommand(): Command {
  const command = new Command('openhands-server').description('Serve a cell to clients of OpenHands V0');
  return withMessages(
    withAlso(withServerOptions(command, { workspace: false }), 'openhands-v0'),
    defaultMessages,
  )
    .argument('[port]', 'port to listen on; 0 takes any. --listen says more', parsePort)
    .requiredOption('--working-dir <directory>', 'where the shell starts; made if it is missing')
    .addOption(
      new Option('--plugins <names...>', 'plugins that clients ask for').choices(pluginNames).default([]),
    )
    .option('--username <name>', 'user that the client expects', 'openhands')
    .option('--user-id <number>', 'id of that user', parseUserId, 1000)
    .option('--enable-browser', 'have a browser, started at its first use', true)
    .option('--no-enable-browser', 'do without a browser')
    .option(
      '--browsergym-eval-env <name>',
      'accepted; the browser has no task, and says so when asked for one',
    )
    .option('--allow-sudo', 'let commands of --username become another user, as the image allows')
    .option('--host <address>', 'address to listen on, with a port', '127.0.0.1')
    .option('--allow-anonymous', 'do without a key, also when none is set')
    .addHelpText('after', notes)
    .action(serve);
}

async function serve(
  port: number | undefined,
  options: OpenHandsServerOptions,
  command: Command,
): Promise<void> {
  if (port === undefined && options.listen === undefined)
    throw new InvalidArgumentError('Give a port, or an address with --listen.');
  const { makeWorkingDirectory, thisMachine } = await import('../../compat/openhands-v0/this-machine.js');
  const { serveFileViewer } = await import('../../compat/openhands-v0/file-viewer.js');
  const { openHandsPlugins } = await import('../../compat/openhands-v0/openhands-plugins.js');
  const { serveOpenHands } = await import('../../compat/openhands-v0/serve-openhands-v0.js');
  const { keepHeapSmall } = await import('../../cell/server/small-heap.js');
  const { serveRuntime } = await import('../serve-runtime.js');
  const messages = messagesOf(options, defaultMessages);
  keepHeapSmall();
  // Take it out of the environment before starting anything that could pass it on to commands.
  const { allowAnonymous } = options;
  const { token, isNew } = await takeToken(options, { variable: 'SESSION_API_KEY', allowAnonymous });
  const trusted = await takeTrusted(options);
  const { editorSettings } = await import('../openhands-settings.js');
  const { secrets, ...editor } = await editorSettings(options.config);
  // The default names would create an account on a machine that has no such account.
  const named = ['username', 'userId'].some((name) => command.getOptionValueSource(name) === 'cli');
  const user = named && process.getuid?.() === 0 ? userOf(options) : undefined;
  const mayGain = options.allowSudo === true;
  const plugins = openHandsPlugins({
    host: options.host,
    browser: options.enableBrowser,
    agentSkills: options.plugins.includes('agent_skills'),
    vscodePort: options.plugins.includes('vscode') ? vscodePort(process.env.VSCODE_PORT) : undefined,
  });
  const workspace = makeWorkingDirectory(options.workingDir);
  // Its clients know no tools; those of the protocols beside it do.
  const tools = options.entry.length > 0 ? ['tools'] : [];
  const given = {
    ...trusted,
    ...(secrets !== undefined && { secrets: { ...secrets, ...trusted.secrets } }),
    plugins: [...plugins, ...tools],
    place: () => thisMachine(workspace, user, { mayGain }),
  };
  await serveRuntime({ ...options, workspace }, given, async (runtime, log) => {
    warn(options, runtime, log);
    await addTools(runtime, options.entry);
    // A browser in a cell with a separate network would not reach it.
    const viewer = runtime.backend === 'cli' ? await serveFileViewer(runtime, speaker(messages)) : undefined;
    const server = await serveOpenHands(
      runtime,
      {
        ...exposureOf(options, { host: options.host, port: port ?? 0 }),
        // A host beside the port is intentional, as in the original.
        allowRemote: options.allowRemote ?? options.listen === undefined,
        allowAnonymous,
        token,
        messages,
        ...editor,
        workingDirectory: runtime.workspace,
        noChangeSeconds: softTimeout(process.env.NO_CHANGE_TIMEOUT_SECONDS),
      },
      await mountsOf(options, runtime, token),
    );
    const close = async () => {
      await viewer?.close();
      await server.close();
    };
    const { address } = server;
    return { server: { address, close }, secret: isNew ? `session key: ${token}` : undefined };
  });
}

/** Warns about features that a client requests and does not get. */
function warn(
  { plugins, username, browsergymEvalEnv }: OpenHandsServerOptions,
  { backend }: Runtime,
  log: Log,
): void {
  if (plugins.includes('vscode') && vscodePort(process.env.VSCODE_PORT) === undefined)
    log('warn', 'The plugin vscode is disabled: VSCODE_PORT does not say where browsers are to reach it.');
  if (browsergymEvalEnv !== undefined)
    log('warn', 'There are no BrowserGym tasks here; the browser is the ordinary one.', {
      asked: browsergymEvalEnv,
    });
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

function parseUserId(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError('Give the number of a user.');
  return Number(text);
}
