import { Command } from 'commander';
import { withConfigOption } from '../cell-options.js';
import { plainText } from '../sanitize.js';
import { dim, formatTable } from '../text-table.js';

/** `workcell config`: what is in force, and why. */
export function configCommand(): Command {
  return withConfigOption(new Command('config').description('Print your settings and where each came from'))
    .option('--json', 'print one line of JSON')
    .action(printConfig);
}

async function printConfig(options: { config?: string | false; json?: true }): Promise<void> {
  const { loadConfig } = await import('../../config/load-config.js');
  const { shown, sources, files, notHonoured } = await loadConfig({
    cwd: process.cwd(),
    env: process.env,
    file: options.config,
    lenient: true,
  });
  const settings = Object.entries(shown).map(([key, value]) => ({
    key,
    value: value ?? null,
    source: sources[key],
  }));
  if (options.json) {
    const byKey = Object.fromEntries(settings.map(({ key, value, source }) => [key, { value, source }]));
    process.stdout.write(`${JSON.stringify({ files, settings: byKey, notHonoured })}\n`);
    return;
  }
  const rows = settings.map(({ key, value, source = '' }) => [key, plainText(display(value)), source]);
  process.stdout.write(`${formatTable(['SETTING', 'VALUE', 'FROM'], rows)}\n`);
  const read = files.length === 0 ? 'No configuration file was read.' : `Read: ${files.join(', ')}.`;
  process.stdout.write(dim(`\n${plainText(read)}\n`));
  for (const { file, key, reason } of notHonoured) {
    const what = key === undefined ? file : `${key} in ${file}`;
    process.stdout.write(`Not honoured: ${plainText(`${what}: ${reason}`)}\n`);
  }
  if (notHonoured.some(({ key }) => key !== undefined))
    process.stdout.write(dim('Let all of a project count: workcell trust\n'));
}

function display(value: unknown): string {
  if (value === null) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
