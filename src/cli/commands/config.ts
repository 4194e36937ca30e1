import { Command } from 'commander';
import { withConfigOption } from '../options.js';
import { plainText } from '../sanitize.js';
import { dim, formatTable } from '../table.js';

/** `workcell config`: what is in force, and why. */
export function configCommand(): Command {
  return withConfigOption(new Command('config').description('Print the settings and where each came from'))
    .option('--json', 'print one line of JSON')
    .action(printConfig);
}

async function printConfig(options: { config?: string; json?: true }): Promise<void> {
  const { loadConfig } = await import('../../config/load.js');
  const { shown, sources, file } = await loadConfig({
    cwd: process.cwd(),
    env: process.env,
    file: options.config,
  });
  const settings = Object.entries(shown).map(([key, value]) => ({
    key,
    value: value ?? null,
    source: sources[key],
  }));
  if (options.json) {
    const byKey = Object.fromEntries(settings.map(({ key, value, source }) => [key, { value, source }]));
    process.stdout.write(`${JSON.stringify({ file: file ?? null, settings: byKey })}\n`);
    return;
  }
  const rows = settings.map(({ key, value, source = '' }) => [key, plainText(display(value)), source]);
  process.stdout.write(`${formatTable(['SETTING', 'VALUE', 'FROM'], rows)}\n`);
  process.stdout.write(
    dim(file === undefined ? '\nNo workcell.toml was found from here upwards.\n' : `\nRead from ${file}.\n`),
  );
}

function display(value: unknown): string {
  if (value === null) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
