import { Command } from 'commander';
import { packageVersion } from '../base/package-version.js';

const examples = `
Examples:
  $ workcell run 'python3 -c "print(6*7)"'   one command, in a fresh cell
  $ workcell run --workspace . npm test      a command in this directory
  $ workcell shell --workspace .             a terminal in this directory
  $ workcell run --attach 3f9a pwd           in a kept cell
  $ workcell doctor                          what isolation this machine gives

Settings come from your configuration, then WORKCELL_* variables, then options;
"workcell config" shows each with its source. The workcell.toml of a project may
only narrow them, until you trust it: "workcell trust".`;

/** Problems are errors that it throws, so that one place prints them and chooses the exit code. */
export function programOf(commands: readonly Command[]): Command {
  const program = new Command('workcell')
    .description('The place where an AI agent works: commands in interchangeable sandboxes.')
    .usage('<command> [options]')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'Print help for a command')
    // The help of a command lists its arguments.
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .enablePositionalOptions()
    .addHelpText('after', examples);
  for (const command of commands) program.addCommand(command);
  for (const command of withSubcommands(program)) {
    command
      .exitOverride()
      .helpOption('-h, --help', 'print help')
      .showSuggestionAfterError()
      .configureOutput({ outputError: () => {} });
  }
  return program;
}

/** The command and all commands below it. */
export function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}
