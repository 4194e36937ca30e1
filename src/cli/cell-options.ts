/** Options that several commands share. */
import { type Command, Option } from 'commander';
import { collect, collectVariable } from '../base/command-line.js';
import { type LogLevel, logLevels } from '../protocol/config.js';

export interface CellOptions {
  backend?: string;
  workspace?: string;
  overlay?: true;
  gpu?: true;
  gpuCount?: number;
  gpuId?: string[];
  env?: Record<string, string> | undefined;
  minIsolation?: string;
  minFact?: string[];
  allow?: string[];
  deny?: string[];
  ask?: true;
  unenforced?: true;
  config?: string | false;
  keepAlive?: true;
  attach?: string;
  verbose?: true;
  logLevel?: LogLevel;
}

/** Adds the options that say where a cell comes from. */
export function withCellOptions(command: Command, { workspace = true, env = true } = {}): Command {
  command.option('-b, --backend <name>', 'where the cell runs (default: the safest that can start here)');
  if (workspace)
    command.option('-w, --workspace <directory>', 'directory to work in (default: a temporary one)');
  if (env)
    command.option('-e, --env <NAME=value>', 'set a variable of the cell; may be repeated', collectVariable);
  return withConfigOption(
    command
      .option('--min-isolation <tier>', 'refuse to start with less isolation than this, such as container')
      .option(
        '--min-fact <code>',
        'refuse to start without this fact, such as memory; may be repeated',
        collect,
      )
      .addOption(new Option('--gpu', 'give the cell all GPUs of the machine').conflicts('gpuCount'))
      .addOption(
        new Option('--gpu-count <number>', 'give it so many of them').argParser(Number).conflicts('gpuId'),
      )
      .addOption(
        new Option('--gpu-id <id>', 'give it this one, as nvidia-smi shows it; may be repeated')
          .argParser(collect)
          .conflicts('gpu'),
      )
      .option(
        '--allow <rule>',
        'let the cell reach a host, such as api.example.com:443, or what npm, pip, go, apt or git is set up for; may be repeated',
        collect,
      )
      .option('--deny <rule>', 'refuse a host although a rule allows it; may be repeated', collect)
      .option(
        '--ask',
        'ask about hosts that no rule is on: on the terminal, and in "workcell events --pending"',
      )
      .option(
        '--unenforced',
        'start in spite of --allow, --deny and --ask where nothing can hold them (local, cli): the cell reaches everything then',
      )
      .option('--keep-alive', 'leave the cell running at the end and print its id')
      .option('--attach <id>', 'work in a kept cell, and leave it running'),
  )
    .option('-v, --verbose', 'log what happens to standard error, as with --log-level debug')
    .addOption(
      new Option(
        '--log-level <level>',
        'what is logged to standard error (default: that of the configuration)',
      ).choices(logLevels),
    );
}

/** The request for GPUs, in the form that backends take. */
export function gpuGiven({ gpu, gpuCount, gpuId }: CellOptions): true | number | string[] | undefined {
  return gpu ?? gpuCount ?? gpuId;
}

export function withConfigOption(command: Command): Command {
  return command
    .option('-c, --config <file>', 'configuration file (default: your own, and the nearest workcell.toml)')
    .option('--no-config', 'use neither configuration files nor WORKCELL_* variables');
}
