/** `executor`: commands and files of this machine, behind HTTP. A cell's program has it, and so has `workcell`. */
import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { collect, collectVariable } from '../../base/command-line.js';
import type { ListenAddress } from '../../base/http/http-options.js';
import { showAddress } from '../../base/http/listen.js';
import { parseListen } from '../../base/http/listen-option.js';
import { WorkcellError } from '../../protocol/index.js';
import type { Log } from './executor-server-options.js';
import { type LimitOptions, limitsFrom, withLimitOptions } from './limit-options.js';

export interface ExecutorOptions extends LimitOptions {
  listen: ListenAddress;
  tokenFile?: string;
  tokenFd?: number;
  workspace: string;
  env?: Record<string, string> | undefined;
  allowRemote?: true;
  allowHost: string[];
  allowOrigin: string[];
  runAs?: { uid: number; gid: number };
  onShutdown: 'end' | 'detach';
  plugin?: string[];
}

const notes = `
Serves the native API (/v1, described at /openapi.json and /docs) to a client
such as backend "remote". A token is needed unless it listens on a Unix socket;
it comes from a file or a descriptor, so that no command can see it.

Examples:
  $ workcell executor --listen 127.0.0.1:8700 --token-file t --workspace ./w
  $ workcell executor --listen unix:/run/cell/socket --workspace ./w
  $ curl -H "Authorization: Bearer $(cat t)" http://127.0.0.1:8700/v1/info`;

/** Without what it does. */
export function executorCommand(): Command {
  const command = new Command('executor')
    .description('Serve this machine, or a cell, over HTTP')
    .requiredOption('--listen <address>', '<host>:<port>, tcp:<host>:<port> or unix:<path>', parseListen)
    .option('--token-file <file>', 'file with the token that clients must send')
    .option('--token-fd <number>', 'inherited descriptor to read the token from', parseNumber)
    .option('-w, --workspace <directory>', 'directory to work in', '.')
    .option('-e, --env <NAME=value>', 'variable for every command; may be repeated', collectVariable)
    .option('--allow-remote', 'allow an address that other machines can reach')
    .option('--allow-host <name>', 'host name that requests may name; may be repeated', collect, [])
    .option('--allow-origin <origin>', 'web origin that may send requests; may be repeated', collect, [])
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
  return withLimitOptions(command).addHelpText('after', notes);
}

/** Never settles: the process ends through its signals. */
export async function serveThisMachine(options: ExecutorOptions, log: Log): Promise<never> {
  const { readToken } = await import('../../base/http/token.js');
  const { hostEnvironment } = await import('../launchers/host-environment.js');
  const { loadPlugins } = await import('../plugins/load-plugins.js');
  const { startServer } = await import('./start-server.js');
  const { shutDownOn } = await import('./shutdown.js');
  const { keepHeapSmall } = await import('./small-heap.js');
  keepHeapSmall();
  const server = await startServer({
    listen: options.listen,
    token: readToken({ file: options.tokenFile, descriptor: options.tokenFd }),
    workspace: existingDirectory(options.workspace),
    environment: hostEnvironment(options.env ?? {}),
    allowRemote: options.allowRemote,
    hosts: options.allowHost,
    origins: options.allowOrigin,
    runAs: options.runAs,
    plugins: await loadPlugins(options.plugin),
    limits: limitsFrom(options),
    log,
  });
  // A reader of the address may end the server at once, so be ready for signals first.
  shutDownOn(server, { commands: options.onShutdown });
  process.stdout.write(`listening on ${showAddress(server.address)}\n`);
  return new Promise(() => {});
}

function existingDirectory(given: string): string {
  const path = resolve(given);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return realpathSync(path);
  throw new WorkcellError(
    'invalid-config',
    `The workspace ${path} is not a directory. Make it first, or name another one.`,
    { details: { workspace: path } },
  );
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
