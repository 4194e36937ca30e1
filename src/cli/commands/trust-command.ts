import { Command } from 'commander';
import type { ConfigFile } from '../../config/file.js';
import { plainText } from '../sanitize.js';
import { formatTable } from '../text-table.js';

const notes = `
Until you trust it, the workcell.toml of a project may only set limits,
min_isolation and min_facts, each stricter than your own. Trust lets all of it
count until the file changes; your state directory has the list. Plugins that
are packages or files never count from there.

Examples:
  $ workcell trust            the nearest workcell.toml, here or above
  $ workcell trust ~/project
  $ workcell trust --list`;

/** `workcell trust`: lets the configuration of a project count. */
export function trustCommand(): Command {
  return new Command('trust')
    .description('Trust the workcell.toml of a project')
    .argument('[directory]', 'where the file is (default: from here upwards)')
    .option('--list', 'show the files that you trust')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', notes)
    .action(trustProject);
}

/** `workcell untrust`: takes it back. */
export function untrustCommand(): Command {
  return new Command('untrust')
    .description('Stop trusting the workcell.toml of a project')
    .argument('[directory]', 'where the file is (default: from here upwards)')
    .action(untrustProject);
}

async function trustProject(
  directory: string | undefined,
  options: { list?: true; json?: true },
): Promise<void> {
  if (options.list) return printTrusted(options.json === true);
  const { parseConfigFile } = await import('../../config/file.js');
  const { fromFile } = await import('../../config/entries.js');
  const { loadConfig } = await import('../../config/load-config.js');
  const { OutsideBackends } = await import('../../config/outside-backends.js');
  const { redact } = await import('../../config/redact.js');
  const { trust } = await import('../../config/trusted-files.js');
  const file = await projectFile(directory);
  const own = await loadConfig({ cwd: '/', env: process.env, lenient: true });
  const entries = await fromFile(file.path, parseConfigFile(file), new OutsideBackends(own.outside));
  const said = entries.map(({ setting: { key }, value }) => ({ key, value: redact(key, value) }));
  trust(file.path, file.text, process.env);
  if (options.json) {
    const settings = Object.fromEntries(said.map(({ key, value }) => [key, value]));
    process.stdout.write(`${JSON.stringify({ file: file.path, settings })}\n`);
    return;
  }
  const lines = said.map(({ key, value }) => `  ${plainText(`${key} = ${JSON.stringify(value)}`)}\n`);
  process.stdout.write(`Trusted until it changes: ${plainText(file.path)}\n${lines.join('')}`);
}

async function untrustProject(directory: string | undefined): Promise<void> {
  const { join, resolve } = await import('node:path');
  const { projectFileName } = await import('../../config/file.js');
  const { untrust } = await import('../../config/trusted-files.js');
  // The file may no longer exist; remove its record all the same.
  const path =
    directory === undefined
      ? (await projectFile(undefined)).path
      : join(await realDirectory(resolve(directory)), projectFileName);
  const was = untrust(path, process.env);
  process.stdout.write(`${was ? 'No longer trusted' : 'Was not trusted'}: ${plainText(path)}\n`);
}

async function realDirectory(path: string): Promise<string> {
  const { realpath } = await import('node:fs/promises');
  return realpath(path).catch(() => path);
}

async function printTrusted(json: boolean): Promise<void> {
  const { listTrusted } = await import('../../config/trusted-files.js');
  const files = listTrusted(process.env);
  if (json) {
    process.stdout.write(`${JSON.stringify(files)}\n`);
    return;
  }
  if (files.length === 0) {
    process.stdout.write('No project is trusted.\n');
    return;
  }
  const rows = files.map(({ path, state, trustedAt }) => [plainText(path), state, trustedAt.slice(0, 10)]);
  process.stdout.write(`${formatTable(['FILE', 'NOW', 'TRUSTED'], rows)}\n`);
}

/** The file that a search would find, or the one in a directory. */
async function projectFile(directory: string | undefined): Promise<ConfigFile> {
  const { join, resolve } = await import('node:path');
  const { findProjectFile, projectFileName, readProjectFile } = await import('../../config/file.js');
  const { WorkcellError } = await import('../../protocol/errors.js');
  if (directory !== undefined) return readProjectFile(join(resolve(directory), projectFileName));
  const found = findProjectFile(process.cwd(), process.env, () => {});
  if (found !== undefined) return found;
  throw new WorkcellError(
    'not-found',
    `There is no ${projectFileName} from ${process.cwd()} upwards that you could trust. Name the directory of one.`,
  );
}
