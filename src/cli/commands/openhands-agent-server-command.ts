import { Command } from 'commander';
import { defaultV1Messages } from '../../compat/openhands-v1/openhands-v1-messages.js';
import { type AlsoOptions, addTools, mountsOf, withAlso } from '../also.js';
import { type MessagesOptions, messagesOf, withMessages } from '../messages-option.js';
import { exposureOf, parsePort, type ServerOptions, withServerOptions } from '../server-options.js';
import { takeTrusted } from '../trusted-options.js';

interface AgentServerOptions extends ServerOptions, AlsoOptions, MessagesOptions {
  host: string;
  port: number;
  sessionApiKeyFile?: string;
  reload?: true;
  checkBrowser?: true;
  importModules?: string;
  extraPythonPath?: string;
}

const notes = `
Serves the workspace half of the OpenHands V1 agent-server: bash, files, git.
Session keys come from --session-api-key-file (one a line) or, as in the
original, from OH_SESSION_API_KEYS_0, OH_SESSION_API_KEYS_1, … or
SESSION_API_KEY. Without any, the server makes one and prints it.

For another address than loopback, give a key. If clients use another name than
the address itself, pass --allow-host.

--messages replaces any text of this server: a JSON object from key to text, in
the form that --print-messages prints, with {values} in it.

Examples:
  $ workcell openhands-agent-server --port 8000 --workspace .
  $ SESSION_API_KEY=… workcell openhands-agent-server --host 0.0.0.0 --port 60000 --allow-host cell-7`;

/** `workcell openhands-agent-server`: a cell for clients of OpenHands V1. */
export function openHandsAgentServerCommand(): Command {
  const command = new Command('openhands-agent-server').description(
    'Serve a cell to clients of OpenHands V1',
  );
  return withMessages(withAlso(withServerOptions(command), 'openhands-v1'), defaultV1Messages)
    .option('--host <address>', 'address to listen on, with --port', '127.0.0.1')
    .option('--port <number>', 'port to listen on; 0 takes any', parsePort, 8000)
    .option('--session-api-key-file <file>', 'the same as --token-file; may hold several keys, one a line')
    .option('--reload', 'no effect; neither have the two that follow')
    .option('--import-modules <names>', 'Python modules of the original')
    .option('--extra-python-path <paths>', 'where those are')
    .option('--check-browser', 'fails: this server has no browser')
    .addHelpText('after', notes)
    .action(serve);
}

async function serve(options: AgentServerOptions): Promise<void> {
  const { WorkcellError } = await import('../../protocol/index.js');
  if (options.checkBrowser)
    throw new WorkcellError('capability-unsupported', 'This server has no browser to check.');
  const { keepHeapSmall } = await import('../../cell/server/small-heap.js');
  const { takeSessionKeys } = await import('../../compat/openhands-v1/session-keys.js');
  const { serveOpenHandsV1 } = await import('../../compat/openhands-v1/serve-openhands-v1.js');
  const { serveRuntime } = await import('../serve-runtime.js');
  keepHeapSmall();
  // Take it out of the environment before starting anything that could pass it on to commands.
  const keys = takeSessionKeys(process.env, options.sessionApiKeyFile ?? options.tokenFile);
  const messages = messagesOf(options, defaultV1Messages);
  const trusted = await takeTrusted(options);
  await serveRuntime(options, trusted, async (runtime, log) => {
    await addTools(runtime, options.entry);
    const exposure = exposureOf(options, { host: options.host, port: options.port });
    const server = await serveOpenHandsV1(runtime, {
      ...exposure,
      // With a given key, an address is intentional, as in the original.
      allowRemote: options.allowRemote ?? (keys.given && options.listen === undefined),
      sessionApiKeys: keys.keys,
      id: runtime.id,
      workspace: runtime.workspace,
      isolation: runtime.isolation,
      vscode: runtime.vscode,
      messages,
      also: await mountsOf(options, runtime, keys.keys),
      log,
    });
    return {
      // The code that started the runtime ends it, or leaves it running.
      server: { address: server.address, close: () => server.close('detach') },
      secret: keys.given ? undefined : `session key: ${keys.keys[0]}`,
    };
  });
}
