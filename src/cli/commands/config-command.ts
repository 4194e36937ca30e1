import { Command } from 'commander';
import { WorkcellError } from '../../protocol/errors.js';
import { withConfigOption } from '../cell-options.js';
import { plainText } from '../sanitize.js';
import { dim, formatTable } from '../text-table.js';

const notes = `
"import" reads the configuration file of OpenHands and prints the settings that
say the same. Standard error says of each key that has none why. Secrets are not
copied, nor is what may be one: the settings refer to variables that you set.

Examples:
  $ workcell config                          what is in force, and why
  $ workcell config import openhands.toml -o ~/.config/workcell/config.toml`;

/** `workcell config`: shows the effective settings and their sources, and imports another program's file. */
export function configCommand(): Command {
  const show = (command: Command) =>
    withConfigOption(command).option('--json', 'print one line of JSON').action(printConfig);
  return show(new Command('config').description('Print your settings and where each came from'))
    .addCommand(show(new Command('show').description('Print your settings and where each came from')))
    .addCommand(
      new Command('import')
        .description('Print the settings that a configuration file of OpenHands comes to')
        .argument('<file>', 'the config.toml of OpenHands')
        .option('-o, --output <file>', 'write them to a new file that only you can read')
        .action(importConfig),
    )
    .addHelpText('after', notes);
}

async function importConfig(file: string, { output }: { output?: string }): Promise<void> {
  const { readFileSync, writeFileSync } = await import('node:fs');
  const { stringify } = await import('smol-toml');
  const { backendNames } = await import('../../backends/index.js');
  const { defaultPlugins } = await import('../../cell/plugins/builtin.js');
  const { parseConfigFile } = await import('../../config/file.js');
  const { importOpenHands } = await import('../../config/import/openhands.js');
  const text = attempt(`"${file}" cannot be read`, () => readFileSync(file, 'utf8'));
  const content = parseConfigFile({ path: file, text, isPrivate: false });
  const imported = await importOpenHands(content, { backends: backendNames, plugins: defaultPlugins });
  const written = `${stringify(imported.settings).trim()}\n`;
  if (output === undefined) process.stdout.write(written);
  else
    attempt(`"${output}" cannot be written. Name a new file in a directory of yours`, () =>
      writeFileSync(output, written, { flag: 'wx', mode: 0o600 }),
    );
  for (const { key, reason } of imported.notes)
    process.stderr.write(`workcell: ${plainText(`${key}: ${reason}`)}\n`);
}

function attempt<Result>(problem: string, step: () => Result): Result {
  try {
    return step();
  } catch (cause) {
    throw new WorkcellError('invalid-config', `${problem}: ${(cause as Error).message}.`, { cause });
  }
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
