import { Argument, Command } from 'commander';

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
    .action((name: keyof typeof scripts, _options: unknown, command: Command) => {
      process.stdout.write(scripts[name](wordsOf(command.parent ?? command)));
    });
}

/** Names and options of each command, by the words that lead to it. */
type Words = readonly (readonly [path: string, offered: readonly string[]])[];

function wordsOf(command: Command, path = ''): Words {
  const options = command.options.flatMap(({ long }) => (long === undefined || long === null ? [] : [long]));
  const names = command.commands.map((each) => each.name());
  return [
    [path, [...names, ...options, '--help']],
    ...command.commands.flatMap((each) => wordsOf(each, `${path} ${each.name()}`.trim())),
  ];
}

/** All words are names of ours, so nothing in them needs quoting. Where none fits, the shell offers files. */
const scripts = {
  bash: (words: Words) => `_workcell() {
  local word=\${COMP_WORDS[COMP_CWORD]} path=\${COMP_WORDS[1]-} offered
  [[ $COMP_CWORD -gt 1 ]] || path=
  case "$path \${COMP_WORDS[2]-}" in
${nested(words)
  .map(([path]) => `    '${path}') [[ $COMP_CWORD -gt 2 ]] && path='${path}';;`)
  .join('\n')}
  esac
  case $path in
${words.map(([path, offered]) => `    '${path}') offered='${offered.join(' ')}';;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$offered" -- "$word"))
}
complete -o default -F _workcell workcell
`,
  zsh: (words: Words) => `autoload -U +X bashcompinit && bashcompinit
${scripts.bash(words)}`,
  fish: (words: Words) =>
    words
      .filter(([path]) => !path.includes(' '))
      .map(([path, offered]) => {
        const where = path === '' ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${path}`;
        return `complete -c workcell -n '${where}' -a '${offered.join(' ')}'\n`;
      })
      .join(''),
};

function nested(words: Words): Words {
  return words.filter(([path]) => path.includes(' '));
}
