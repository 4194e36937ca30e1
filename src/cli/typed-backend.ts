/** Which backend a command line names. It brings options of its own, so it is read before the command line is carried out. */
import type { Command } from 'commander';
import { createProgram } from './program.js';

interface Typed {
  readonly backend: string | undefined;
  /** The first word that is neither an option of the command nor the value of one. */
  readonly rest: string | undefined;
}

/**
 * Reads the words as commander does, and nothing but options of the command counts: an agent may have chosen the words of a
 * command for the cell. `extend` adds options to the program that reads.
 */
export function readBackend(words: readonly string[], extend?: (program: Command) => void): Typed {
  const program = createProgram();
  extend?.(program);
  let last = program;
  for (const command of withSubcommands(program)) {
    // Whatever is wrong with the words is reported when they are carried out.
    command
      .exitOverride()
      .configureOutput({ writeOut: () => {}, writeErr: () => {}, outputError: () => {} })
      .helpCommand(false)
      .helpOption(false)
      .option('-h, --help')
      .allowUnknownOption()
      .allowExcessArguments()
      .action(() => {})
      .hook('preSubcommand', (_command, subcommand) => {
        last = subcommand;
      });
    for (const option of command.options) delete option.parseArg;
  }
  try {
    program.parse(words, { from: 'user' });
  } catch {}
  const { backend } = last.opts<{ backend?: string }>();
  return { backend, rest: last.args[0] };
}

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}
