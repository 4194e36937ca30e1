/** The page with every option of every command, from the command line itself. */
import type { Command, Option } from 'commander';
import { createProgram } from '../src/cli/program.js';

/** An option of so many commands is told once, for all of them. */
const many = 8;

export function optionsPage(): string[] {
  const commands = createProgram().commands.flatMap((command) => commandsBelow(command, ''));
  const all = commands.flatMap(({ options }) => options);
  const isShared = (option: Option) => all.filter((each) => keyOf(each) === keyOf(option)).length >= many;
  const shared = new Map(all.filter(isShared).map((option) => [keyOf(option), option]));
  return [
    '# Options',
    '',
    'Every option of every command. [Command line](cli.md) explains the commands, and `--backend NAME` adds the options of that',
    '[backend](backends/). Options of a command stand in front of the words of a program that it runs.',
    '',
    '## Options of many commands',
    '',
    ...tableOf([...shared.values()]),
    ...commands.flatMap(({ path, summary, options }) => {
      const common = options.filter(isShared).map(({ long }) => `\`${long}\``);
      return [
        `## workcell ${path}`,
        '',
        `${summary}.${options.length === 0 ? ' It has no options.' : ''}`,
        '',
        ...tableOf(options.filter((option) => !isShared(option))),
        ...(common.length === 0
          ? []
          : [`[Of many commands](#options-of-many-commands): ${common.join(', ')}.`, '']),
      ];
    }),
  ];
}

function commandsBelow(
  command: Command,
  above: string,
): { path: string; summary: string; options: readonly Option[] }[] {
  const path = `${above} ${command.name()}`.trim();
  const own = {
    path,
    summary: command.description(),
    options: command.options.filter(({ hidden }) => !hidden),
  };
  return [own, ...command.commands.flatMap((each) => commandsBelow(each, path))];
}

function keyOf({ flags, description }: Option): string {
  return `${flags}: ${description}`;
}

function tableOf(options: readonly Option[]): string[] {
  if (options.length === 0) return [];
  const rows = options.map(({ flags, description, defaultValue, mandatory, argChoices }) => {
    const isPlain = ['string', 'number'].includes(typeof defaultValue);
    const more = [
      argChoices === undefined ? '' : `one of ${argChoices.join(', ')}`,
      isPlain ? `default \`${defaultValue}\`` : '',
      mandatory ? 'needed' : '',
    ].filter((part) => part !== '');
    const text = [description, ...more].join('; ');
    return `| \`${flags}\` | ${text.replaceAll('|', '\\|').replaceAll('<', '&lt;')} |`;
  });
  return ['| option | what it does |', '|---|---|', ...rows, ''];
}
