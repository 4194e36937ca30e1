import { Argument, Command } from 'commander';
import { programText } from '../../base/program-text.js';

const notes = `
Examples:
  $ echo 'source <(workcell completion bash)' >> ~/.bashrc
  $ echo 'source <(workcell completion zsh)' >> ~/.zshrc
  $ workcell completion fish > ~/.config/fish/completions/workcell.fish`;

/** `workcell completion`: what a shell offers at the Tab key. */
export function completionCommand(): Command {
  const shell = new Argument('<shell>', 'the shell that you use').choices(Object.keys(scripts));
  return new Command('completion')
    .description('Print the completion for your shell')
    .addArgument(shell)
    .addHelpText('after', notes)
    .action(async (name: keyof typeof scripts, _options: unknown, command: Command) => {
      const { backendNames } = await import('../../backends/index.js');
      process.stdout.write(scripts[name](entriesOf(command.parent ?? command, backendNames)));
    });
}

/** What fits at a place: these words, or the ids of kept cells, for which the shell asks when it needs them. */
type Fitting = readonly string[] | 'cells';

interface Entry {
  /** The words that lead to the command. */
  readonly path: string;
  readonly commands: readonly string[];
  /** Its options with what fits behind each; undefined where nothing is known of that. */
  readonly options: readonly { readonly flags: readonly string[]; readonly value?: Fitting | undefined }[];
  readonly operands: Fitting;
}

function entriesOf(command: Command, backends: readonly string[], path = ''): readonly Entry[] {
  const known: Record<string, Fitting> = { '--backend': backends, '--attach': 'cells' };
  const [first] = command.registeredArguments;
  const entry: Entry = {
    path,
    commands: command.commands.map((each) => each.name()),
    options: [
      ...command.options.map(({ short, long, argChoices }) => ({
        flags: [long, short].filter((flag) => typeof flag === 'string'),
        value: argChoices ?? known[long ?? ''],
      })),
      { flags: ['--help', '-h'] },
    ],
    operands: first?.name() === 'cell' ? 'cells' : (first?.argChoices ?? []),
  };
  const below = command.commands.flatMap((each) =>
    entriesOf(each, backends, `${path} ${each.name()}`.trim()),
  );
  return [entry, ...below];
}

/**
 * All words are names of ours, and ids have letters and digits alone, so nothing needs quoting. Where nothing fits, the shell
 * offers files. The one for bash runs in zsh too, where a variable `path` would be the search path.
 */
const scripts = {
  bash: (entries: readonly Entry[]) => `_workcell_cells() {
  "\${COMP_WORDS[0]}" cells --json 2>/dev/null | grep -o '"id":"[a-z0-9]*"' | cut -d '"' -f 4
}
_workcell() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} at=\${COMP_WORDS[1]-} offered=
  [[ $COMP_CWORD -gt 1 ]] || at=
  case "$at \${COMP_WORDS[2]-}" in
${entries
  .filter(isNested)
  .map(({ path }) => `    '${path}') [[ $COMP_CWORD -gt 2 ]] && at='${path}';;`)
  .join('\n')}
  esac
  case "$at $before" in
${entries
  .flatMap(({ path, options }) =>
    options.map(({ flags, value }) => {
      const patterns = flags.map((flag) => `'${path} ${flag}'`).join('|');
      return value === undefined ? '' : `    ${patterns}) offered=${inBash(value)};;\n`;
    }),
  )
  .join('')}    *) case "$at" in
${entries.map((entry) => `      '${entry.path}') offered=${inBash(wordsOf(entry))}${entry.operands === 'cells' ? '; [[ $word == -* ]] || offered=$(_workcell_cells)' : ''};;`).join('\n')}
    esac;;
  esac
  COMPREPLY=($(compgen -W "$offered" -- "$word"))
}
complete -o default -F _workcell workcell
`,
  zsh: (entries: readonly Entry[]) => `autoload -U +X compinit bashcompinit
(( \${+_comps} )) || compinit
bashcompinit
${scripts.bash(entries)}`,
  fish: (entries: readonly Entry[]) =>
    [
      `set -g __workcell_commands ${entries.map(({ path }) => `'${path}'`).join(' ')}`,
      programText('complete.fish', import.meta.url),
      ...entries.map(fishLines),
    ].join('\n'),
};

const isNested = ({ path }: Entry) => path.includes(' ');

function wordsOf({ commands, options, operands }: Entry): readonly string[] {
  const long = options.flatMap(({ flags: [flag = ''] }) => flag);
  return [...commands, ...(operands === 'cells' ? [] : operands), ...long];
}

function inBash(fitting: Fitting): string {
  return fitting === 'cells' ? '$(_workcell_cells)' : `'${fitting.join(' ')}'`;
}

function fishLines({ path, commands, options, operands }: Entry): string {
  const here = `complete -c workcell -n '__workcell_at ${path}'`;
  const inFish = (fitting: Fitting) => (fitting === 'cells' ? '(__workcell_cells)' : fitting.join(' '));
  const lines = options.map(({ flags, value }) => {
    const names = flags.map((flag) =>
      flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
    );
    return `${here} ${names.join(' ')}${value === undefined ? '' : ` -x -a '${inFish(value)}'`}`;
  });
  const words = operands === 'cells' ? operands : [...commands, ...operands];
  if (words.length > 0) lines.push(`${here} -f -a '${inFish(words)}'`);
  return `${lines.join('\n')}\n`;
}
