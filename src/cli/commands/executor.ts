import { Command, InvalidArgumentError, Option } from 'commander';
import type { ListenAddress } from '../../cell/server/options.js';
import { collect, collectVariable } from '../options.js';
import { type LimitOptions, limitsFrom, withLimitOptions } from './executor-limits.js';

interface ExecutorCommandOptions extends LimitOptions {
  listen: ListenAddress;
  tokenFile?: string;
  tokenFd?: number;
  workspace: string;
  env?: Record<string, string>;
  allowRemote?: true;
  host: string[];
  origin: string[];
  runAs?: { uid: number; gid: number };
  onShutdown: 'end' | 'detach';
  plugin?: string[];
}

const notes = `
Serves the native API (/v1, described at /openapi.json and /docs) to a client
such as backend "remote". A token is needed unless it listens on a Unix socket;
it comes from a file or a descriptor, so that no command can see it.

Examples:
  $ workcell executor --listen tcp:127.0.0.1:8700 --token-file t --workspace ./w
  $ workcell executor --listen unix:/run/cell/socket --workspace ./w
  $ curl -H "Authorization: Bearer $(cat t)" http://127.0.0.1:8700/v1/info`;

/** `workcell executor`: commands and files of this machine, behind HTTP. */
export function executorCommand(): Command {
  const command = new Command('executor')
    .description('Serve the executor of this machine over HTTP')
    .requiredOption('--listen <address>', 'tcp:<host>:<port> or unix:<path>', parseAddress)
    .option('--token-file <file>', 'file that holds the token clients must send')
    .option('--token-fd <number>', 'inherited descriptor to read the token from', parseNumber)
    .option('-w, --workspace <directory>', 'directory to work in', '.')
    .option('-e, --env <NAME=value>', 'variable for every command; may be repeated', collectVariable)
    .option('--allow-remote', 'allow an address that other machines can reach')
    .option('--host <name>', 'host name that requests may name; may be repeated', collect, [])
    .option('--origin <origin>', 'web origin that may send requests; may be repeated', collect, [])
    .option(
      '--plugin <name>',
      'plugin to have; may be repeated (default: all of this package but agent-skills)',
      collect,
    )
    .option('--run-as <uid[:gid]>', 'user that commands run as, when started as root', parseUser)
    .addOption(
      new Option('--on-shutdown <what>', 'what becomes of commands when the server ends')
        .choices(['end', 'detach'])
        .default('end'),
    );
  return withLimitOptions(command).addHelpText('after', notes).action(serve);
}

async function serve(options: ExecutorCommandOptions): Promise<void> {
  const { openWorkspace } = await import('../../backends/workspace.js');
  const { readToken } = await import('../../cell/server/token.js');
  const { hostEnvironment } = await import('../../cell/launchers/host-environment.js');
  const { loadPlugins } = await import('../../cell/plugins/load.js');
  const { startServer } = await import('../../cell/server/start.js');
  const { shutDownOn } = await import('../../cell/server/shutdown.js');
  const { keepHeapSmall } = await import('../../cell/server/small-heap.js');
  const { createLog } = await import('../log.js');
  keepHeapSmall();
  const log = createLog('info');
  const server = await startServer({
    listen: options.listen,
    token: readToken({ file: options.tokenFile, descriptor: options.tokenFd }),
    workspace: openWorkspace(options.workspace).path,
    environment: hostEnvironment(options.env ?? {}),
    allowRemote: options.allowRemote,
    hosts: options.host,
    origins: options.origin,
    runAs: options.runAs,
    plugins: await loadPlugins(options.plugin),
    limits: limitsFrom(options),
    log,
  });
  // Whoever reads that it listens may end it at once.
  shutDownOn(server, { commands: options.onShutdown });
  const { address } = server;
  const place = 'path' in address ? `unix:${address.path}` : `http://${address.host}:${address.port}`;
  process.stdout.write(`listening on ${place}\n`);
  // The process ends through its signals, never by this command coming to an end.
  await new Promise(() => {});
}

function parseAddress(text: string): ListenAddress {
  const [, path] = /^unix:(.+)$/.exec(text) ?? [];
  if (path !== undefined) return { path };
  const [, bracketed, plain, port] = /^tcp:(?:\[([\da-f:.]+)\]|([^:]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535)
    throw new InvalidArgumentError('Give tcp:<host>:<port>, such as tcp:127.0.0.1:8700, or unix:<path>.');
  return { host, port: Number(port) };
}

function parseUser(text: string): { uid: number; gid: number } {
  const [, uid, gid] = /^(\d{1,9})(?::(\d{1,9}))?$/.exec(text) ?? [];
  if (uid === undefined)
    throw new InvalidArgumentError('Give numbers: a user, or a user and a group, such as 1000:1000.');
  return { uid: Number(uid), gid: Number(gid ?? uid) };
}

function parseNumber(text: string): number {
  if (!/^\d{1,4}$/.test(text))
    throw new InvalidArgumentError('Give the number of an open descriptor, such as 3.');
  return Number(text);
}
