import { Command, InvalidArgumentError } from 'commander';
import type { Runtime } from '../../index.js';
import type { Executor } from '../../protocol/index.js';
import { type CellOptions, collect, withCellOptions } from '../options.js';

interface AgentServerOptions extends CellOptions {
  host: string;
  port: number;
  sessionApiKeyFile?: string;
  allowHost: string[];
  allowOrigin: string[];
  reload?: true;
  checkBrowser?: true;
  importModules?: string;
  extraPythonPath?: string;
}

const notes = `
Serves the workspace half of the OpenHands V1 agent-server: bash, files, git.
Session keys come from --session-api-key-file (one a line) or, as in the
original, from OH_SESSION_API_KEYS_0, OH_SESSION_API_KEYS_1, … or
SESSION_API_KEY; with none, one is made up and printed.

Another address than loopback needs a key that was given. Clients that use
another name than the address itself need --allow-host.

Examples:
  $ workcell openhands-agent-server --port 8000 --workspace .
  $ SESSION_API_KEY=… workcell openhands-agent-server --host 0.0.0.0 --port 60000 --allow-host cell-7`;

/** `workcell openhands-agent-server`: a cell for clients of OpenHands V1. */
export function openHandsAgentServerCommand(): Command {
  return withCellOptions(
    new Command('openhands-agent-server').description('Serve a cell to clients of OpenHands V1'),
  )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on; 0 takes any', parsePort, 8000)
    .option('--session-api-key-file <file>', 'file with the keys that clients may send, one a line')
    .option('--allow-host <name>', 'host name that requests may name; may be repeated', collect, [])
    .option('--allow-origin <origin>', 'web origin that may send requests; may be repeated', collect, [])
    .option('--reload', 'accepted and without effect, like the two that follow')
    .option('--import-modules <names>', 'Python modules of the original')
    .option('--extra-python-path <paths>', 'where those are')
    .option('--check-browser', 'fails: this server has no browser')
    .addHelpText('after', notes)
    .action(serve);
}

async function serve(options: AgentServerOptions): Promise<void> {
  const { WorkcellError } = await import('../../protocol/index.js');
  if (options.checkBrowser)
    throw new WorkcellError('capability-unsupported', 'This server has no browser that could be checked.');
  const { keepHeapSmall } = await import('../../cell/server/small-heap.js');
  const { takeSessionKeys } = await import('../../compat/openhands-v1/session-keys.js');
  const { serveOpenHandsV1 } = await import('../../compat/openhands-v1/serve.js');
  const { watchInterrupts } = await import('../interrupts.js');
  const { startRuntime } = await import('../start.js');
  keepHeapSmall();
  // Taken out of the environment before anything that could pass it on to commands is started.
  const keys = takeSessionKeys(process.env, options.sessionApiKeyFile);
  using interrupts = watchInterrupts();
  const { runtime, log, end } = await startRuntime(options, interrupts.signal);
  try {
    const server = await serveOpenHandsV1(executorOf(runtime, end), {
      listen: { host: options.host, port: options.port },
      sessionApiKeys: keys.keys,
      allowRemote: keys.given,
      hosts: options.allowHost,
      origins: options.allowOrigin,
      id: runtime.id,
      workspace: runtime.workspace,
      isolation: runtime.isolation,
      vscode: runtime.vscode,
      log,
    });
    try {
      const { host, port } = server.address as { host: string; port: number };
      if (!keys.given) process.stdout.write(`session key: ${keys.keys[0]}\n`);
      process.stdout.write(`listening on http://${host.includes(':') ? `[${host}]` : host}:${port}\n`);
      await aborted(interrupts.signal);
    } finally {
      await server.close();
    }
  } finally {
    await end();
  }
  process.exitCode = interrupts.exitCode() === 143 ? 0 : interrupts.exitCode();
}

/** Through the runtime every action takes the way of policy and record. */
function executorOf(runtime: Runtime, end: () => Promise<void>): Executor {
  return {
    actions: runtime.actions,
    // A checked action is also one that a caller may write.
    execute: runtime.execute.bind(runtime) as Executor['execute'],
    upload: (path, content, options) => runtime.files.upload(content, path, options),
    download: (path, options) => runtime.files.download(path, options),
    openTerminal: (options) => runtime.terminals.open(options),
    close: end,
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function parsePort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError('Give a number from 0 to 65535.');
  return Number(text);
}
