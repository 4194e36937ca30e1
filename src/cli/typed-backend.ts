/**
 * Finds the backend that a command line names. A backend brings its own options, so read its name before parsing the
 * command line.
 */
import type { Command } from 'commander';
import { withSubcommands } from './program-of.js';

interface Typed {
  readonly backend: string | undefined;
  /** The first word that is neither an option of the command nor the value of one. */
  readonly rest: string | undefined;
}

/**
 * Reads the words as commander does, and nothing but options of the command counts: an agent may have chosen the words of a
 * command for the cell. `create` makes the program that reads.
 */
export function readBackend(words: readonly string[], create: () => Command): Typed {
  const program = create();
  let last = program;
  for (const command of withSubcommands(program)) {
    // Parsing the words for real reports whatever is wrong with them.
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
