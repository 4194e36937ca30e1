import { Command } from 'commander';
import { type CellOptions, withCellOptions } from '../cell-options.js';
import { watchInterrupts } from '../interrupts.js';
import { plainText } from '../sanitize.js';
import { dim, formatTable, green } from '../text-table.js';
import { addCommand, searchCommand } from './plugin-packages.js';

interface PluginsCommandOptions extends CellOptions {
  json?: true;
}

const notes = `
Starts a cell and looks, inside it, for what each plugin needs. Name plugins as
"plugins" in your configuration; the default is all of this package but
agent-skills.`;

/** `workcell plugins`: which plugins there are, here and on npm, and whether they would work. */
export function pluginsCommand(): Command {
  const list = withCellOptions(new Command('list').description('List plugins and whether they work here'))
    .option('--json', 'print one line of JSON')
    .addHelpText('after', notes)
    .action(printPlugins);
  return new Command('plugins')
    .description('List, find and install plugins, which add actions')
    .addCommand(list)
    .addCommand(searchCommand())
    .addCommand(addCommand());
}

async function printPlugins(options: PluginsCommandOptions): Promise<void> {
  const { startRuntime } = await import('../start-runtime.js');
  using interrupts = watchInterrupts();
  const { runtime, end } = await startRuntime(options, interrupts.signal);
  try {
    const plugins = (await runtime.capabilities()).filter(({ plugin }) => plugin !== undefined);
    process.stdout.write(options.json ? `${JSON.stringify(plugins)}\n` : describe(plugins));
  } finally {
    await end();
  }
}

type Capabilities = Awaited<ReturnType<import('../../index.js').Runtime['capabilities']>>;

function describe(plugins: Capabilities): string {
  const rows = plugins.map(({ name, state, reason, plugin }) =>
    [name, plugin?.version, state, plugin?.actions.join(' '), reason ?? plugin?.summary].map((text) =>
      plainText(text ?? ''),
    ),
  );
  const style = (cell: string) =>
    cell === 'ready' ? green : cell === 'unavailable' ? dim : (text: string) => text;
  return `${formatTable(['PLUGIN', 'VERSION', 'STATE', 'ACTIONS', 'ABOUT'], rows, style)}\n`;
}
