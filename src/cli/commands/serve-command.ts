import { Command } from 'commander';
import type { ServiceOptions } from '../../service/serve-service.js';
import { type CellOptions, withConfigOption } from '../cell-options.js';
import { exposureOf, type ListenOptions, takeToken, withListenOptions } from '../server-options.js';
import { serveBackupCommand } from './serve-backup-command.js';
import { serveStatusCommand } from './serve-status-command.js';

type ServeOptions = ListenOptions &
  Pick<CellOptions, 'config' | 'verbose'> & { openhands?: true; e2b?: true };

const notes = `
Serves cells to many programs and people. It makes cells from templates, keeps
them over its own restarts, pauses or ends them when their time is over, and
judges and records what is done in them by your configuration ([security],
[secrets], [service]).

Open the address of the console in a browser to see cells at work, answer what
they ask, and look back at what happened.

The key that it prints, or that --token-file holds, is the operator's: it makes
keys for tenants. Without --token-file there is a new one at each start.

With --e2b, clients of E2B work here unchanged: set E2B_API_URL and
E2B_SANDBOX_URL to the address, and E2B_API_KEY to a key.

Examples:
  $ workcell serve
  $ workcell serve status --api-key-file key
  $ workcell serve backup monday.db
  $ workcell run --backend service --url http://127.0.0.1:8720 --api-key-file key 'uname -a'
  $ curl -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
      -d '{"name":"mine","ttlMs":3600000}' http://127.0.0.1:8720/v1/cells`;

/** `workcell serve`: cells for many, over one API. */
export function serveCommand(): Command {
  const command = new Command('serve')
    .description('Serve cells to many programs and people')
    // An option behind the name of a command below belongs to that one.
    .enablePositionalOptions();
  return withListenOptions(withConfigOption(command))
    .option('--openhands', 'also serve the remote-runtime API of OpenHands, at /openhands')
    .option('--e2b', 'also serve clients of E2B')
    .option('-v, --verbose', 'log what happens')
    .addHelpText('after', notes)
    .addCommand(serveStatusCommand())
    .addCommand(serveBackupCommand())
    .hook('preSubcommand', refuseOwnOptions)
    .action(serve);
}

/** Options of `serve` mean nothing to the commands below, so another store than the named one would be copied without a word. */
function refuseOwnOptions(command: Command, below: Command): void {
  const given = command.options.find(
    (option) => command.getOptionValueSource(option.attributeName()) === 'cli',
  );
  if (given === undefined) return;
  const name = below.name();
  below.error(
    `error: ${given.long} in front of "${name}" is an option of "serve". Put options of "${name}" behind it: workcell serve ${name} --help`,
  );
}

async function serve(options: ServeOptions): Promise<void> {
  const { startService } = await import('../../service/serve-service.js');
  const { createLog } = await import('../cli-log.js');
  const { watchInterrupts } = await import('../interrupts.js');
  const { serveUntilAsked } = await import('../serve-until-asked.js');
  using interrupts = watchInterrupts();
  const { token = '', isNew } = await takeToken(options);
  const server = await startService({
    ...exposureOf(options, { host: '127.0.0.1', port: 8720 }),
    operatorKey: token,
    config: options.config,
    ...(await protocolsOf(options)),
    log: createLog(options.verbose ? 'debug' : 'info'),
  });
  const secret = isNew ? `operator key: ${token}` : undefined;
  // A browser does not send the part behind the #, and the page removes it from the address.
  const page = isNew ? `/console/#key=${token}` : '/console/';
  await serveUntilAsked({ server, secret, page }, interrupts);
}

/** What else the service speaks, and the templates for it. */
async function protocolsOf({
  openhands,
  e2b,
}: ServeOptions): Promise<Pick<ServiceOptions, 'also' | 'templates'>> {
  const { remoteRuntimeApi, remoteRuntimeTemplates } = openhands
    ? await import('../../compat/openhands-remote/remote-runtime-api.js')
    : {};
  const { e2bMount } = e2b ? await import('../../compat/e2b/e2b-mount.js') : {};
  return {
    also: [remoteRuntimeApi, e2bMount].filter((protocol) => protocol !== undefined),
    templates: remoteRuntimeTemplates,
  };
}
