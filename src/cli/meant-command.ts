/** Says which command somebody meant, where the library does not. */
import { type Command, CommanderError } from 'commander';
import { nearest } from '../protocol/nearest.js';

/** The library prints the help of everything when it does not know the command that somebody wants help for. */
export function checkHelp(program: Command, [help, word, ...more]: readonly string[]): void {
  if (help !== 'help' || word === undefined || word.startsWith('-') || more.length > 0) return;
  if (word === 'help' || program.commands.some((command) => command.name() === word)) return;
  throw new CommanderError(
    1,
    'commander.unknownCommand',
    withMeant(`error: unknown command '${word}'`, word, program),
  );
}

/** A command that lists when nothing follows its name takes what somebody misspelled for an argument of the list. */
export function meant(program: Command, error: unknown): unknown {
  if (!(error instanceof CommanderError) || error.code !== 'commander.excessArguments') return error;
  const [name, word = ''] = process.argv.slice(2);
  const group = program.commands.find((command) => command.name() === name && command.commands.length > 0);
  if (group === undefined || word.startsWith('-')) return error;
  return new CommanderError(
    error.exitCode,
    error.code,
    withMeant(`error: unknown command '${name} ${word}'`, word, group),
  );
}

function withMeant(message: string, word: string, group: Command): string {
  const found = nearest(
    word,
    group.commands.map((command) => command.name()),
  );
  return found === undefined ? message : `${message}\n(Did you mean ${found}?)`;
}
