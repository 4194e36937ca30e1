import { Command } from 'commander';
import { type CellOptions, withConfigOption } from '../cell-options.js';
import { exposureOf, type ListenOptions, takeToken, withListenOptions } from '../server-options.js';

type ConsoleOptions = ListenOptions & Pick<CellOptions, 'config'> & { store?: string };

const notes = `
Shows a page with the records in your event store: what happens in cells that run
and what happened in those that are gone, to follow, replay, search and export,
and the questions that wait for your answer. It needs no service.
"workcell serve" shows the same page, and cells to work with.

Examples:
  $ workcell console
  $ workcell console --store sqlite:run.db`;

/** `workcell console`: the records of this machine in a browser. */
export function consoleCommand(): Command {
  const command = new Command('console').description('Show what happened in cells, in a browser');
  return withListenOptions(withConfigOption(command))
    .option('--store <store>', 'event store (default: as configured)')
    .addHelpText('after', notes)
    .action(show);
}

async function show(options: ConsoleOptions): Promise<void> {
  const { loadConfig } = await import('../../config/load-config.js');
  const { serveRecords } = await import('../../service/serve-records.js');
  const { createLog } = await import('../cli-log.js');
  const { watchInterrupts } = await import('../interrupts.js');
  const { serveUntilAsked } = await import('../serve-until-asked.js');
  using interrupts = watchInterrupts();
  const { values } = await loadConfig({
    cwd: process.cwd(),
    env: process.env,
    file: options.config,
    overrides: { 'events.store': options.store },
  });
  const { token = '', isNew } = await takeToken(options);
  const server = await serveRecords({
    ...exposureOf(options, { host: '127.0.0.1', port: 0 }),
    token,
    store: values.events.store,
    log: createLog('info'),
  });
  const page = isNew ? `/console/#key=${token}` : '/console/';
  await serveUntilAsked({ server, page }, interrupts);
}
