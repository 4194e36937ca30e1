/** Options that several commands share. */
import { type Command, InvalidArgumentError } from 'commander';

export interface CellOptions {
  backend?: string;
  workspace?: string;
  minIsolation?: string;
  minFact?: string[];
  config?: string | false;
  keepAlive?: true;
  attach?: string;
  verbose?: true;
}

/** Adds the options that say where a cell comes from. */
export function withCellOptions(command: Command, { workspace = true } = {}): Command {
  command.option('-b, --backend <name>', 'where the cell runs (default: the safest that can start here)');
  if (workspace)
    command.option('-w, --workspace <directory>', 'directory to work in (default: a temporary one)');
  return withConfigOption(
    command
      .option('--min-isolation <tier>', 'refuse to start with less isolation than this, such as container')
      .option(
        '--min-fact <code>',
        'refuse to start where this is not enforced, such as memory; may be repeated',
        collect,
      )
      .option('--keep-alive', 'leave the cell running at the end and tell its id')
      .option('--attach <id>', 'go on in a cell that was kept alive, and leave it running'),
  ).option('-v, --verbose', 'log what happens to standard error');
}

export function withConfigOption(command: Command): Command {
  return command
    .option('-c, --config <file>', 'configuration file (default: your own, and the nearest workcell.toml)')
    .option('--no-config', 'use neither configuration files nor WORKCELL_* variables');
}

/** Reads a positive number of seconds as milliseconds. */
export function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (text.trim() === '' || !(seconds > 0 && seconds <= 2_147_483)) {
    throw new InvalidArgumentError('Give seconds, a number above 0 and at most 2147483.');
  }
  return Math.ceil(seconds * 1000);
}

/** Collects an option that may be repeated. */
export function collect(value: string, collected: string[] = []): string[] {
  return [...collected, value];
}

/** Collects `NAME=value`; `NAME` alone takes the value it has here. */
export function collectVariable(
  text: string,
  collected: Record<string, string> = {},
): Record<string, string> {
  const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)(?:=(.*))?$/s.exec(text) ?? [];
  if (name === undefined)
    throw new InvalidArgumentError('Give NAME=value, the name in letters, digits and underscores.');
  const found = value ?? process.env[name];
  if (found === undefined) throw new InvalidArgumentError(`${name} is not set here, so give ${name}=value.`);
  return { ...collected, [name]: found };
}
