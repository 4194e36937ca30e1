/** Plugins in npm packages: `workcell plugins search` and `add`, which leave registries and proxies to the user's npm. */
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { findHostProgram, findTrustedProgram, hostPath } from '../../base/find-program.js';
import { configDirectory } from '../../base/user-directories.js';
import { WorkcellError } from '../../protocol/index.js';
import { plainText } from '../sanitize.js';
import { formatTable } from '../text-table.js';

/** Authors of plugins put it into their package.json. */
const keyword = 'workcell-plugin';

const longestAnswer = 8 * 1024 * 1024;

const foundSchema = z.array(
  z.object({ name: z.string(), version: z.string(), description: z.string().default('') }),
);

export function searchCommand(): Command {
  return new Command('search')
    .description(`Search npm for plugins, packages with the keyword ${keyword}`)
    .argument('[words...]', 'what they should be about')
    .option('--json', 'print one line of JSON')
    .action(search);
}

export function addCommand(): Command {
  return new Command('add')
    .description('Install a plugin from npm beside your configuration')
    .argument('<package>', 'name of the package, with a version if you like: name@1.2.0', packageName)
    .action(add);
}

async function search(words: string[], options: { json?: true }): Promise<void> {
  const text = await npm(['search', '--json', `keywords:${keyword}`, '--', ...words]);
  const found = foundSchema.safeParse(parse(text));
  if (!found.success) throw failed('npm search', 'its answer is not a list of packages');
  if (options.json) {
    process.stdout.write(`${JSON.stringify(found.data)}\n`);
    return;
  }
  const rows = found.data.map(({ name, version, description }) =>
    [name, version, description].map((cell) => plainText(cell)),
  );
  process.stdout.write(
    rows.length === 0
      ? 'There is no such plugin.\n'
      : `${formatTable(['PACKAGE', 'VERSION', 'ABOUT'], rows)}\n`,
  );
}

/** Its install scripts do not run. Loading it does run its code, as every later use will. */
async function add(given: string): Promise<void> {
  const name = given.replace(/(?<=.)@.*$/, '');
  const directory = configDirectory();
  await npm(['install', '--ignore-scripts', '--no-audit', '--no-fund', '--', given]);
  const { loadPlugins } = await import('../../cell/plugins/load-plugins.js');
  const { defaultPlugins } = await import('../../cell/plugins/builtin.js');
  const [loaded] = await loadPlugins([name], directory);
  const actions = Object.keys(loaded?.plugin.actions ?? {}).join(', ') || 'none';
  const list = [...defaultPlugins, name].map((plugin) => JSON.stringify(plugin)).join(', ');
  process.stdout.write(
    `${plainText(name)} ${plainText(loaded?.plugin.version ?? '')} is installed. Its actions: ${plainText(actions)}.\n` +
      `To use it, name it in ${join(directory, 'config.toml')}:\n\nplugins = [${list}]\n`,
  );
}

function packageName(text: string): string {
  if (/^(@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*(@[\w.^~<>=*-]+)?$/.test(text) && !text.startsWith('-'))
    return text;
  throw new InvalidArgumentError(`${JSON.stringify(text)} is not the name of an npm package.`);
}

/**
 * Starts and searches beside the configuration: the project that you stand in may name another registry, and hold programs by
 * the names of npm and of what npm starts.
 */
async function npm([verb = '', ...words]: readonly string[]): Promise<string> {
  const program = npmProgram();
  if (program === undefined)
    throw failed(`npm ${verb}`, 'there is no npm beside this Node, in the system or on the search path');
  const cwd = configDirectory();
  await mkdir(cwd, { recursive: true, mode: 0o700 });
  const env = { ...process.env, PATH: hostPath({ path: `${besideNode()}:${process.env.PATH ?? ''}` }) };
  try {
    const argv = [verb, '--prefix', cwd, ...words];
    return (await promisify(execFile)(program, argv, { cwd, env, maxBuffer: longestAnswer })).stdout;
  } catch (error) {
    throw failed(`npm ${verb}`, lastLines((error as { stderr?: string }).stderr ?? String(error)));
  }
}

/** Version managers install an npm with each Node. */
function npmProgram(): string | undefined {
  return findTrustedProgram('npm', { path: besideNode() }) ?? findHostProgram('npm');
}

const besideNode = (): string => dirname(process.execPath);

const lastLines = (text: string): string =>
  plainText(text.trim().split('\n').slice(-5).join(' ')).slice(0, 1000);

function failed(what: string, reason: string): WorkcellError {
  return new WorkcellError('package-missing', `${what} failed: ${reason}.`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
