/** Programs that start another one in a way of their own. */
import { own } from '../own.js';
import { unknownText } from '../paths/place.js';
import { stripGlobal, valuesOf } from '../programs/version-control.js';
import { afterOptions, type Starts } from './after-options.js';
import type { Invocation } from './invocation.js';
import type { Scope } from './scope.js';

type Special = (invocation: Invocation, scope: Scope) => Starts | undefined;

export const specialWrappers: Readonly<Record<string, Special | undefined>> = {
  xargs: (invocation, scope) => {
    const { args, input } = invocation;
    const unbounded = args.some(
      (arg, index) => /^-P0$|^--max-procs=0$/.test(arg) || (arg === '-P' && args[index + 1] === '0'),
    );
    if (
      unbounded &&
      (input.from.some(({ program }) => program === 'yes') || args.some((arg) => /[^&]&\s*$/.test(arg)))
    )
      scope.high('Starts programs without end.');
    return startsOfXargs(invocation);
  },
  parallel: ({ args, input }) => {
    const rest = afterOptions(args, { values: ['-j', '--jobs', '-a', '-N', '-n', '-S'] });
    const at = rest.findIndex((word) => word.startsWith(':::'));
    const words = at === -1 ? [input.text?.trim() ?? unknownText] : rest.slice(at + 1);
    const command = (at === -1 ? rest : rest.slice(0, at)).join(' ');
    return words.slice(0, 8).map((word) => ({
      argv: [],
      source:
        command === ''
          ? word
          : command.includes('{}')
            ? command.replaceAll('{}', word)
            : `${command} ${word}`,
    }));
  },
  find: ({ args }, scope) => startsOfFind(args, scope),
  fd: ({ args }) => {
    const at = args.findIndex((arg) => /^(?:-x|-X|--exec|--exec-batch)$/.test(arg));
    if (at === -1) return undefined;
    const path = args.slice(0, at).findLast((arg) => /^[/~.]./.test(arg)) ?? '.';
    return [{ argv: fill(args.slice(at + 1), `${path.replace(/\/+$/, '')}/${unknownText}`) }];
  },
  env: ({ args }) => {
    const at = args.findIndex((arg) => arg === '-S' || arg === '--split-string');
    return at === -1 ? undefined : [{ argv: [], source: args.slice(at + 1).join(' ') }];
  },
  su: ({ args }) => sourceAfter(args, ['-c', '--command']),
  runuser: ({ args }) => sourceAfter(args, ['-c', '--command']) ?? sourceRest(args, '--'),
  script: ({ args }) => sourceAfter(args, ['-c', '--command', '-qc', '-qec']),
  flock: ({ args }) =>
    sourceAfter(args, ['-c', '--command']) ?? [
      { argv: afterOptions(args, { values: ['-w', '-E'], skip: 1 }) },
    ],
  ssh: ({ args }) => {
    const rest = afterOptions(args, {
      values: [
        '-i',
        '-p',
        '-l',
        '-o',
        '-F',
        '-J',
        '-L',
        '-R',
        '-D',
        '-b',
        '-c',
        '-E',
        '-W',
        '-w',
        '-m',
        '-Q',
        '-S',
        '-e',
        '-I',
        '-B',
      ],
      skip: 1,
    });
    return rest.length === 0 ? undefined : [{ argv: [], source: rest.join(' ') }];
  },
  ...everyOf('docker podman nerdctl docker-compose ctr crictl', ({ args }) => containerStart(args)),
  kubectl: ({ args }) => (args.includes('exec') ? sourceRest(args, '--') : undefined),
  tmux: ({ args }) =>
    lastSource(args, ['new', 'new-session', 'neww', 'new-window', 'send-keys', 'split-window', 'run-shell']),
  screen: ({ args }) =>
    args.some((arg) => /^-\w*[dm]/.test(arg))
      ? [{ argv: afterOptions(args, { values: ['-S', '-t', '-s'] }) }]
      : undefined,
  git: ({ args }) => {
    const [verb = '', ...rest] = stripGlobal(args);
    if (verb === 'bisect' && rest[0] === 'run') return [{ argv: rest.slice(1) }];
    const option = own(gitPrograms, verb);
    const sources = option === undefined ? [] : valuesOf(rest, option);
    if (verb === 'submodule' && rest.includes('foreach'))
      sources.push(
        rest
          .slice(rest.indexOf('foreach') + 1)
          .filter((arg) => !arg.startsWith('--'))
          .join(' '),
      );
    const pager = verb === 'grep' ? rest.find((arg) => /^-O./.test(arg)) : undefined;
    if (pager !== undefined) sources.push(pager.slice(2));
    return sources.length === 0 ? undefined : sources.map((source) => ({ argv: [], source }));
  },
  npm: ({ args }) => (/^(?:exec|x|explore)$/.test(args[0] ?? '') ? sourceRest(args, '--') : undefined),
  pnpm: ({ args }) => (args[0] === 'exec' ? [{ argv: args.slice(1) }] : undefined),
  yarn: ({ args }) => (args[0] === 'exec' ? [{ argv: args.slice(1) }] : undefined),
  npx: ({ args }) => sourceAfter(args, ['-c', '--call']),
  poetry: ({ args }) => (args[0] === 'run' ? [{ argv: args.slice(1) }] : undefined),
  pipenv: ({ args }) => (args[0] === 'run' ? [{ argv: args.slice(1) }] : undefined),
  uv: ({ args }) =>
    args[0] === 'run'
      ? [{ argv: afterOptions(args.slice(1), { values: ['--with', '--python', '-p'] }) }]
      : undefined,
  bundle: ({ args }) => (args[0] === 'exec' ? [{ argv: args.slice(1) }] : undefined),
  conda: ({ args }) =>
    args[0] === 'run' ? [{ argv: afterOptions(args.slice(1), { values: ['-n', '-p'] }) }] : undefined,
  alias: ({ args }, scope) => {
    const starts: { argv: string[]; source: string }[] = [];
    for (const arg of args) {
      const [, name, value] = /^([^=]+)=([\s\S]*)$/.exec(arg) ?? [];
      if (name === undefined || value === undefined) continue;
      scope.aliases.set(name, value);
      if (/^(?:sudo|su|ssh|passwd|ls|cd|git)$/.test(name) && !value.startsWith(name) && /[/|;&]/.test(value))
        scope.high(`Replaces the command ${name} by something else.`);
      starts.push({ argv: [], source: value });
    }
    return starts.length === 0 ? undefined : starts;
  },
  ...everyOf(
    'xterm uxterm gnome-terminal konsole alacritty kitty xfce4-terminal terminator urxvt rxvt st',
    ({ args }) => {
      const at = args.findIndex((arg) => /^(?:-e|-x|--command|--execute|--)$/.test(arg));
      if (at === -1) return undefined;
      const rest = args.slice(at + 1);
      return rest.length === 1 ? [{ argv: [], source: rest[0] ?? '' }] : [{ argv: rest }];
    },
  ),
  'start-stop-daemon': ({ args }) => {
    const program = args[args.findIndex((arg) => /^(?:--exec|--startas|-x|-a)$/.test(arg)) + 1] ?? '';
    return [{ argv: [program, ...(sourceRest(args, '--')?.[0]?.argv ?? [])] }];
  },
  ...everyOf(
    'gcloud vagrant fly flyctl limactl multipass nix-shell nix devbox chroma',
    ({ args }) => sourceAfter(args, ['--command', '-c', '-C', '--run']) ?? sourceRest(args, '--'),
  ),
  ...everyOf(
    'lxc incus heroku op doppler infisical chamber aws-vault direnv mise asdf dotenv env-cmd hatch pixi pdm rye systemd-nspawn distrobox toolbox kubectl-exec pssh with-env envdir s6-envdir',
    ({ args }) =>
      sourceRest(args, '--') ??
      (/^(?:run|exec)$/.test(args[0] ?? '') ? [{ argv: args.slice(1) }] : undefined),
  ),
  ...everyOf('pdsh clush parallel-ssh dsh', ({ args }) => {
    const rest = afterOptions(args, { values: ['-w', '-g', '-l', '-f', '-h', '-H', '-u', '-t', '-b'] });
    return rest.length === 0 ? undefined : [{ argv: [], source: rest.join(' ') }];
  }),
  ansible: ({ args }) => sourceAfter(args, ['-a', '--args']),
  salt: ({ args }) => {
    const at = args.indexOf('cmd.run');
    return at === -1 ? undefined : [{ argv: [], source: args[at + 1] ?? '' }];
  },
  ...everyOf(
    'watchexec nodemon chokidar onchange reflex',
    ({ args }) => sourceAfter(args, ['--exec', '-c', '-x']) ?? sourceRest(args, '--'),
  ),
  concurrently: ({ args }) => args.filter((arg) => /\s/.test(arg)).map((source) => ({ argv: [], source })),
  gdb: ({ args }) => {
    const commands = args.flatMap((arg, index) =>
      /^-{1,2}(?:ex|eval-command)$/.test(args[index - 1] ?? '')
        ? [arg]
        : (/^--?(?:ex|eval-command)=(.*)$/.exec(arg)?.[1] ?? []),
    );
    const starts = commands.flatMap((text) => {
      const source =
        /^(?:!|shell\s+)(.+)$/.exec(text)?.[1] ?? /(?:system|popen|exec\w*)\(\s*"([^"]+)"/.exec(text)?.[1];
      return source === undefined ? [] : [{ argv: [], source }];
    });
    return starts.length === 0 ? undefined : starts;
  },
  ...everyOf('less more man', ({ args }) => shellEscape(args)),
  rsync: ({ args }) => {
    const source = optionText(args, /^(?:-e|--rsh|--rsync-path)$/);
    return source !== undefined && /\bsh\b/.test(source) && !/^ssh\b/.test(source)
      ? [{ argv: [], source }]
      : undefined;
  },
  zip: ({ args }) => {
    const source = optionText(args, /^(?:-TT|--unzip-command)$/);
    return source === undefined ? undefined : [{ argv: [], source }];
  },
  make: ({ args, input }, scope) => {
    const text =
      optionText(args, /^--eval$/) ??
      (args.some((arg, index) => arg === '-' && args[index - 1] === '-f') || args.includes('-f-')
        ? input.text
        : scope.written.get(scope.place(optionText(args, /^(?:-f|--file|--makefile)$/) ?? 'Makefile')));
    const recipes = (text ?? '')
      .split('\n')
      .flatMap((line) => /^(?:\t|[^\t:=#]+::?[^=;]*;)\s*[-@+]*(.+)$/.exec(line)?.[1] ?? []);
    return recipes.length === 0 ? undefined : recipes.map((source) => ({ argv: [], source }));
  },
  vim: ({ args }) => shellEscape(args),
  vi: ({ args }) => shellEscape(args),
  nvim: ({ args }) => shellEscape(args),
  ed: ({ input }) => shellEscape((input.text ?? '').split('\n')),
  tar: ({ args }) => {
    const action = args
      .map(
        (arg) =>
          /^--(?:checkpoint-action=exec|to-command|use-compress-program|rsh-command)=(.*)$/.exec(arg)?.[1],
      )
      .find(Boolean);
    const flag = args.indexOf('-I');
    return action !== undefined
      ? [{ argv: [], source: action }]
      : flag !== -1
        ? [{ argv: [], source: args[flag + 1] ?? '' }]
        : undefined;
  },
};

function everyOf(names: string, special: Special): Record<string, Special> {
  return Object.fromEntries(names.split(' ').map((name) => [name, special]));
}

function optionText(args: readonly string[], option: RegExp): string | undefined {
  for (const [index, arg] of args.entries()) {
    const [, name, value] = /^(-[^=]+)=([\s\S]*)$/.exec(arg) ?? [];
    if (name !== undefined && option.test(name)) return value;
    if (option.test(arg)) return args[index + 1];
  }
  return undefined;
}

function startsOfXargs({ args, input }: Invocation): Starts {
  const marker = args.findIndex((arg) => arg === '-I' || arg === '-i' || arg === '--replace');
  const glued = args.find((arg) => /^-I./.test(arg))?.slice(2);
  const replaced = glued ?? (marker === -1 ? undefined : (args[marker + 1] ?? '{}'));
  const rest = afterOptions(args, {
    values: [
      '-I',
      '-n',
      '-P',
      '-L',
      '-d',
      '-s',
      '-a',
      '-E',
      '--max-args',
      '--max-procs',
      '--delimiter',
      '--max-lines',
    ],
  });
  const text = (input.text ?? unknownText).trim();
  // With a marker each line is one word.
  const words = text.split(replaced === undefined ? /\s+/ : /\n+/).filter((word) => word !== '');
  if (rest.length === 0) return [{ argv: ['echo', ...words] }];
  if (replaced === undefined) return [{ argv: [...rest, ...words] }];
  return words.slice(0, 8).map((word) => ({ argv: rest.map((part) => part.replaceAll(replaced, word)) }));
}

/** What `-exec` and its like start, with the place of the search instead of the file found. */
function startsOfFind(args: readonly string[], scope: Scope): Starts | undefined {
  const base = args.find((arg) => !/^-[HLPOD]/.test(arg)) ?? '.';
  const named = args[args.findIndex((arg) => /^-i?name$/.test(arg)) + 1];
  const within =
    args.some((arg) => /^-i?name$/.test(arg)) && named !== undefined && /^(?:\.|id_|\*?\.env)/.test(named)
      ? `${unknownText}/${named}`
      : unknownText;
  const top = base.startsWith('-') ? '.' : base.replace(/\/+$/, '') || '/';
  // What is found all over a home stands for all of it.
  const found =
    /^(?:~|\/home)$/.test(scope.place(top)) && within === unknownText
      ? `${top}/*`
      : `${top === '/' ? '' : top}/${within}`;
  const starts: { argv: string[] }[] = [];
  for (const [index, arg] of args.entries()) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(arg)) continue;
    const rest = args.slice(index + 1);
    const end = rest.findIndex((word) => word === ';' || word === '+');
    starts.push({ argv: fill(end === -1 ? rest : rest.slice(0, end), found) });
  }
  return starts.length === 0 ? undefined : starts;
}

function fill(argv: readonly string[], found: string): string[] {
  return argv.map((word) => word.replaceAll('{}', found));
}

function sourceAfter(args: readonly string[], options: readonly string[]): Starts | undefined {
  const at = args.findIndex((arg) => options.includes(arg));
  return at === -1 ? undefined : [{ argv: [], source: args[at + 1] ?? '' }];
}

function sourceRest(args: readonly string[], separator: string): Starts | undefined {
  const at = args.indexOf(separator);
  return at === -1 ? undefined : [{ argv: args.slice(at + 1) }];
}

function lastSource(args: readonly string[], verbs: readonly string[]): Starts | undefined {
  if (!args.some((arg) => verbs.includes(arg))) return undefined;
  const last = args.filter((arg) => arg !== 'Enter' && arg !== 'C-m').at(-1) ?? '';
  return last.includes(' ') ? [{ argv: [], source: last }] : undefined;
}

/** `exec` enters a container that lives; what `run` starts in a fresh one without the host's files stays there. */
function containerStart(args: readonly string[]): Starts | undefined {
  const verb = args.findIndex((arg) => arg === 'exec' || arg === 'run');
  if (verb === -1) return undefined;
  const values = [
    '-e',
    '-u',
    '-w',
    '--env',
    '--user',
    '--workdir',
    '--env-file',
    '-v',
    '--volume',
    '-p',
    '--name',
    '--network',
    '--mount',
    '--entrypoint',
    '-h',
    '--memory',
    '-m',
    '--cpus',
    '--platform',
    '--gpus',
    '--pid',
    '--cap-add',
    '--device',
    '--security-opt',
    '--publish',
  ];
  const rest = afterOptions(args.slice(verb + 1), { values, skip: 1 });
  if (rest.length === 0 || args[verb] === 'run') return undefined;
  return [{ argv: rest }];
}

/** `:!command` of the editors. */
function shellEscape(args: readonly string[]): Starts | undefined {
  const starts = args
    .map((arg) => /^(?:\+|-c)?:?!(.+)$/s.exec(arg)?.[1])
    .filter((source) => source !== undefined)
    .map((source) => ({ argv: [], source }));
  return starts.length === 0 ? undefined : starts;
}

/** Options of the verbs of git whose values are commands. */
const gitPrograms: Readonly<Record<string, RegExp | undefined>> = {
  rebase: /^(?:-x|--exec)$/,
  'filter-branch': /^--(?:[\w-]+-filter|setup)$/,
  difftool: /^(?:-x|--extcmd)$/,
  grep: /^--open-files-in-pager$/,
  'send-email': /^--(?:sendmail-cmd|to-cmd|cc-cmd|header-cmd)$/,
};
