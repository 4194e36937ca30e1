/** Programs that start another one. What counts is what they start. */
import { withoutEnd } from '../../../../../base/without-end.js';
import { unknownText } from '../../paths/place.js';
import { afterOptions } from '../../shell/after-options.js';
import type { Invocation } from '../../shell/invocation.js';
import type { Scope } from '../../shell/scope.js';
import { valuesOf } from '../arguments.js';
import { afterGlobalOptions } from '../judge-git-settings.js';
import type { Rule, Started } from '../rule.js';

/** Programs that give the rights of root to another, and their options that take a value. */
const elevating: Readonly<Record<string, string>> = {
  sudo: '-u -g -h -p -C -r -t -D -R -T -U --user --group --host --prompt --chdir',
  doas: '-u -C',
  pkexec: '--user',
  run0: '--user -u',
};
export const elevators = Object.keys(elevating).join(' ');

export function sudoValues(program: string): readonly string[] {
  return (elevating[program] ?? '').split(' ');
}

const sshValues = '-i -p -l -o -F -J -L -R -D -b -c -E -W -w -m -Q -S -e -I -B';
const containerValues =
  '-e -u -w --env --user --workdir --env-file -v --volume -p --name --network --mount --entrypoint -h --memory -m --cpus --platform --gpus --pid --cap-add --device --security-opt --publish';

const editors = 'vim vi nvim view ex gvim rvim vimdiff';
/** `!command`, and commands of the editor that run programs or code. */
const editorCommand =
  /^(?:\+|-c|--cmd)?\s*:?\s*(?:silent!?\s+)?(?:!\s*\S|r\s*!|(?:term(?:inal)?|py(?:thon|x|3)?|lua|perl|ruby|call|exe(?:cute)?|so(?:urce)?)\b)/;

export const starts: readonly Rule[] = [
  ...Object.entries(elevating).map(
    ([programs, values]): Rule =>
      programs === 'sudo' ? { programs, starts: { values, assignments: true, elevated: true } } : { programs, starts: { values, elevated: true } },
  ),
  {
    programs:
      'nohup setsid command builtin unshare prlimit systemd-inhibit firejail torsocks torify proxychains proxychains4 busybox toybox chronic unbuffer fakeroot dbus-run-session caffeinate catchsegv setarch capsh tini dumb-init numactl rlwrap valgrind dbus-launch linux64 linux32 ssh-agent entr',
    starts: {},
  },
  { programs: 'chrt chroot taskset gosu su-exec setuidgid faketime mosh sg', starts: { skip: 1 } },
  { programs: 'env', starts: { option: '-S --split-string', joined: true } },
  { programs: 'env', starts: { values: '-u -C --unset --chdir', assignments: true } },
  { programs: 'cross-env', starts: { assignments: true } },
  { programs: 'exec', starts: { values: '-a' } },
  { programs: 'time', starts: { values: '-f -o' } },
  { programs: 'nice', starts: { values: '-n --adjustment' } },
  { programs: 'ionice', starts: { values: '-c -n -p' } },
  { programs: 'stdbuf', starts: { values: '-i -o -e' } },
  { programs: 'timeout gtimeout', starts: { values: '-s -k --signal --kill-after', skip: 1 } },
  { programs: 'nsenter', starts: { values: '-t --target -S -G' } },
  { programs: 'strace', starts: { values: '-o -e -p -s -u -E' } },
  { programs: 'ltrace', starts: { values: '-o -e -p -s -u' } },
  { programs: 'systemd-run', starts: { values: '-u --unit -p --property -M --machine --uid --gid --on-active --on-calendar' } },
  { programs: 'xvfb-run', starts: { values: '-s -n --server-args' } },
  { programs: 'setpriv', starts: { values: '--reuid --regid' } },
  { programs: 'bwrap', starts: { values: '--bind --ro-bind --dev --proc --tmpfs --chdir --setenv' } },
  { programs: 'proot', starts: { values: '-r -b -w' } },
  { programs: 'cpulimit', starts: { values: '-l -p --limit' } },
  { programs: 'daemonize', starts: { values: '-c -e -o -p -l -u' } },
  { programs: 'chpst', starts: { values: '-u -U -e -n' } },
  { programs: 'cgexec', starts: { values: '-g' } },
  { programs: 'systemd-cat', starts: { values: '-t -p' } },
  { programs: 'sshpass', starts: { values: '-p -f -e' } },
  { programs: 'autossh', starts: { values: '-M' } },
  { programs: 'trickle', starts: { values: '-d -u' } },
  { programs: 'watch', starts: { values: '-n --interval', joined: true } },
  { programs: 'hyperfine', starts: { values: '-w -r -m -n --warmup --runs', joined: true } },
  { programs: 'su runuser', starts: { option: '-c --command' } },
  { programs: 'runuser', starts: { after: '--' } },
  { programs: 'script', starts: { option: '-c --command -qc -qec' } },
  { programs: 'flock', starts: { option: '-c --command' } },
  { programs: 'flock', starts: { values: '-w -E', skip: 1 } },
  { programs: 'ssh', starts: { values: sshValues, skip: 1, joined: true } },
  { programs: 'pdsh clush parallel-ssh dsh', starts: { values: '-w -g -l -f -h -H -u -t -b', joined: true } },
  { programs: 'ansible', starts: { option: '-a --args' } },
  { programs: 'salt', starts: { option: 'cmd.run' } },
  { programs: 'kubectl', arg: 'exec', starts: { after: '--' } },
  { programs: 'screen', arg: /^-\w*[dm]/, starts: { values: '-S -t -s' } },
  { programs: 'npm', verb: 'exec x explore', starts: { after: '--' } },
  { programs: 'pnpm yarn bundle', verb: 'exec', starts: { afterVerb: true } },
  { programs: 'poetry pipenv', verb: 'run', starts: { afterVerb: true } },
  { programs: 'uv', verb: 'run', starts: { afterVerb: true, values: '--with --python -p' } },
  { programs: 'conda', verb: 'run', starts: { afterVerb: true, values: '-n -p' } },
  { programs: 'npx', starts: { option: '-c --call' } },
  { programs: 'gcloud vagrant fly flyctl limactl multipass nix-shell nix devbox chroma', starts: { option: '--command -c -C --run' } },
  {
    programs:
      'gcloud vagrant fly flyctl limactl multipass nix-shell nix devbox chroma lxc incus heroku op doppler infisical chamber aws-vault direnv mise asdf dotenv env-cmd hatch pixi pdm rye systemd-nspawn distrobox toolbox kubectl-exec pssh with-env envdir s6-envdir',
    starts: { after: '--' },
  },
  {
    programs:
      'lxc incus heroku op doppler infisical chamber aws-vault direnv mise asdf dotenv env-cmd hatch pixi pdm rye systemd-nspawn distrobox toolbox kubectl-exec pssh with-env envdir s6-envdir',
    verb: 'run exec',
    starts: { afterVerb: true },
  },
  { programs: 'watchexec nodemon chokidar onchange reflex', starts: { option: '--exec -c -x' } },
  { programs: 'watchexec nodemon chokidar onchange reflex', starts: { after: '--' } },
  { programs: 'xterm uxterm gnome-terminal konsole alacritty kitty xfce4-terminal terminator urxvt rxvt st', start: startOfTerminal },
  { programs: 'rsync', start: ({ args }) => sources(transportsOf(args).filter((source) => !ownRsync.test(source))) },
  { programs: 'rsync', test: ({ args }) => transportsOf(args).some(isNoSsh), medium: 'Starts a program of choice to reach another machine.' },
  { programs: 'scp sftp', starts: { option: '-S' } },
  {
    programs: 'scp sftp',
    value: { '-S': /^(?!(?:.*\/)?ssh$)/ },
    medium: 'Starts a program of choice to reach another machine.',
    highWhen: { value: { '-S': /^\/(?:tmp|var\/tmp|dev\/shm)\// } },
  },
  { programs: 'zip', start: ({ args }) => sources(valuesOf(args, /^(?:-TT|--unzip-command)$/)) },
  {
    programs: 'tar',
    start: ({ args }) => sources(args.flatMap((arg) => /^--(?:checkpoint-action=exec|to-command|use-compress-program|rsh-command)=(.*)$/.exec(arg)?.[1] ?? [])),
  },
  { programs: 'tar', starts: { option: '-I' } },
  { programs: 'less more man', start: ({ args }) => shellEscapes(args) },
  { programs: editors, start: ({ args }) => shellEscapes(args) },
  { programs: editors, arg: editorCommand, medium: 'Starts a command out of an editor.', judge: suspectTexts },
  { programs: 'ed', start: ({ input }) => shellEscapes((input.text ?? '').split('\n')) },
  { programs: 'concurrently', start: ({ args }) => sources(args.filter((arg) => /\s/.test(arg))) },
  { programs: 'gdb', start: startOfDebugger },
  { programs: 'tmux', start: startOfTmux },
  { programs: 'start-stop-daemon', start: startOfDaemon },
  { programs: 'docker podman nerdctl docker-compose ctr crictl', start: startInContainer },
  { programs: 'git', start: startOfGit },
  { programs: 'make gmake', start: startOfMake },
  {
    programs: 'make gmake',
    arg: /^\.?SHELL(?:FLAGS)?\s*[:?+]?=(?!(?:\/(?:usr\/)?bin\/)?(?:ba|da|z|k)?sh$)/,
    medium: 'Makes make run its recipes by a program of choice.',
  },
  { programs: 'make gmake', judge: suspectVariables },
  { programs: 'cmake', arg: '-P', medium: 'Runs a script of cmake that nobody has seen.' },
  { programs: 'm4', start: startOfMacros },
  { programs: 'm4', test: (invocation, scope) => startOfMacros(invocation, scope) !== undefined, medium: 'Runs commands out of macros.' },
  { programs: 'alias', start: startOfAlias },
  { programs: 'find', start: startOfFind },
  { programs: 'fd', start: startOfFd },
  { programs: 'xargs', start: startOfXargs },
  { programs: 'parallel', start: startOfParallel },
];

/** Shell source, each on its own; nothing when there is none. */
function sources(texts: readonly string[]): Started | undefined {
  return texts.length === 0 ? undefined : texts.map((source) => ({ argv: [], source }));
}

/** rsync itself, on the other side. */
const ownRsync = /^(?:sudo\s+(?:-\w+\s+)*)?(?:\S*\/)?rsync$/;

/** What rsync runs to get to the other side, and there. */
function transportsOf(args: readonly string[]): string[] {
  return valuesOf(args, /^-[a-zA-Z]*e$|^--rsh$|^--rsync-path$/);
}

function isNoSsh(source: string): boolean {
  return !/^(?:\/usr\/bin\/)?ssh\b/.test(source) && !ownRsync.test(source);
}

/** Text in quotes can be a command. */
function suspectTexts({ args }: Invocation, scope: Scope): void {
  for (const arg of args) for (const [, , text = ''] of arg.matchAll(/(["'])(.*?)\1/g)) scope.suspect(text);
}

/** Recipes run what their variables hold. */
function suspectVariables({ args }: Invocation, scope: Scope): void {
  for (const arg of args) {
    const [, value] = /^\.?\w+\s*[:?+]?=(.*)$/s.exec(arg) ?? [];
    if (value === undefined) continue;
    for (const [, source = ''] of value.matchAll(/\$\(shell ([^)]*)\)/g)) scope.read(source);
    if (/[\s;|&`]/.test(value)) scope.suspect(value);
  }
}

/** `syscmd` and `esyscmd`, in the words, the input or a file that an earlier command wrote. */
function startOfMacros({ args, input }: Invocation, scope: Scope): Started | undefined {
  const written = args.map((arg) => scope.written.get(scope.place(arg)) ?? '');
  const text = [...args, input.text ?? '', ...written].join('\n');
  return sources([...text.matchAll(/\be?syscmd\(\s*[`"']*([^)`"']*)/g)].map((match) => match[1] ?? ''));
}

/** `:!command` of the editors. */
function shellEscapes(args: readonly string[]): Started | undefined {
  return sources(args.flatMap((arg) => /^(?:\+|-c)?:?!(.+)$/s.exec(arg)?.[1] ?? []));
}

function startOfTerminal({ args }: Invocation): Started | undefined {
  const at = args.findIndex((arg) => /^(?:-e|-x|--command|--execute|--)$/.test(arg));
  if (at === -1) return undefined;
  const rest = args.slice(at + 1);
  return rest.length === 1 ? sources(rest) : [{ argv: rest }];
}

function startOfDaemon({ args }: Invocation): Started {
  const program = args[args.findIndex((arg) => /^(?:--exec|--startas|-x|-a)$/.test(arg)) + 1] ?? '';
  const at = args.indexOf('--');
  return [{ argv: [program, ...(at === -1 ? [] : args.slice(at + 1))] }];
}

function startOfDebugger({ args }: Invocation): Started | undefined {
  const commands = args.flatMap((arg, index) =>
    /^-{1,2}(?:ex|eval-command)$/.test(args[index - 1] ?? '') ? [arg] : (/^--?(?:ex|eval-command)=(.*)$/.exec(arg)?.[1] ?? []),
  );
  return sources(commands.flatMap((text) => /^(?:!|shell\s+)(.+)$/.exec(text)?.[1] ?? /(?:system|popen|exec\w*)\(\s*"([^"]+)"/.exec(text)?.[1] ?? []));
}

function startOfTmux({ args }: Invocation): Started | undefined {
  const verbs = /^(?:new|new-session|neww|new-window|send-keys|split-window|run-shell)$/;
  if (!args.some((arg) => verbs.test(arg))) return undefined;
  const last = args.filter((arg) => arg !== 'Enter' && arg !== 'C-m').at(-1) ?? '';
  return last.includes(' ') ? sources([last]) : undefined;
}

/** `exec` enters a container that lives; what `run` starts in a fresh one without the host's files stays there. */
function startInContainer({ args }: Invocation): Started | undefined {
  const verb = args.findIndex((arg) => arg === 'exec' || arg === 'run');
  if (args[verb] !== 'exec') return undefined;
  const rest = afterOptions(args.slice(verb + 1), { values: containerValues.split(' '), skip: 1 });
  return rest.length === 0 ? undefined : [{ argv: rest }];
}

/** Options of the verbs of git whose values are commands. */
const gitPrograms: Readonly<Record<string, RegExp | undefined>> = {
  rebase: /^(?:-x|--exec)$/,
  'filter-branch': /^--(?:[\w-]+-filter|setup)$/,
  difftool: /^(?:-x|--extcmd)$/,
  grep: /^--open-files-in-pager$/,
  'send-email': /^--(?:sendmail-cmd|to-cmd|cc-cmd|header-cmd)$/,
};

function startOfGit({ args }: Invocation): Started | undefined {
  const [verb = '', ...rest] = afterGlobalOptions(args);
  if (verb === 'bisect' && rest[0] === 'run') return [{ argv: rest.slice(1) }];
  const option = Object.hasOwn(gitPrograms, verb) ? gitPrograms[verb] : undefined;
  const found = option === undefined ? [] : valuesOf(rest, option);
  const each = verb === 'submodule' ? rest.indexOf('foreach') : -1;
  if (each !== -1)
    found.push(
      rest
        .slice(each + 1)
        .filter((arg) => !arg.startsWith('--'))
        .join(' '),
    );
  const pager = verb === 'grep' ? rest.find((arg) => /^-O./.test(arg)) : undefined;
  if (pager !== undefined) found.push(pager.slice(2));
  return sources(found);
}

/** The recipes of a makefile in the words, in the input, or from an earlier command. */
function startOfMake({ args, input }: Invocation, scope: Scope): Started | undefined {
  const [file = 'Makefile'] = valuesOf(args, /^(?:-f|--file|--makefile)$/);
  const text = valuesOf(args, /^--eval$/)[0] ?? (file === '-' || args.includes('-f-') ? input.text : scope.written.get(scope.place(file)));
  return sources((text ?? '').split('\n').flatMap((line) => /^(?:\t|[^\t:=#]+::?[^=;]*;)\s*[-@+]*(.+)$/.exec(line)?.[1] ?? []));
}

function startOfAlias({ args }: Invocation, scope: Scope): Started | undefined {
  const values: string[] = [];
  for (const arg of args) {
    const [, name, value] = /^([^=]+)=([\s\S]*)$/.exec(arg) ?? [];
    if (name === undefined || value === undefined) continue;
    scope.aliases.set(name, value);
    if (/^(?:sudo|su|ssh|passwd|ls|cd|git)$/.test(name) && !value.startsWith(name) && /[/|;&]/.test(value))
      scope.high(`Replaces the command ${name} by something else.`);
    values.push(value);
  }
  return sources(values);
}

/** What `-exec` and its like start, with the place of the search instead of the file found. */
function startOfFind({ args }: Invocation, scope: Scope): Started | undefined {
  const base = args.find((arg) => !/^-[HLPOD]/.test(arg)) ?? '.';
  const at = args.findIndex((arg) => /^-i?name$/.test(arg));
  const named = at === -1 ? undefined : args[at + 1];
  const within = named !== undefined && /^(?:\.|id_|\*?\.env)/.test(named) ? `${unknownText}/${named}` : unknownText;
  const top = base.startsWith('-') ? '.' : withoutEnd(base, '/') || '/';
  // A search all over a home counts as the whole home.
  const found = /^(?:~|\/home)$/.test(scope.place(top)) && within === unknownText ? `${top}/*` : `${top === '/' ? '' : top}/${within}`;
  const started: { argv: string[] }[] = [];
  for (const [index, arg] of args.entries()) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(arg)) continue;
    const rest = args.slice(index + 1);
    const end = rest.findIndex((word) => word === ';' || word === '+');
    started.push({ argv: filled(end === -1 ? rest : rest.slice(0, end), '{}', found) });
  }
  return started.length === 0 ? undefined : started;
}

function startOfFd({ args }: Invocation): Started | undefined {
  const at = args.findIndex((arg) => /^(?:-x|-X|--exec|--exec-batch)$/.test(arg));
  if (at === -1) return undefined;
  const path = args.slice(0, at).findLast((arg) => /^[/~.]./.test(arg)) ?? '.';
  return [{ argv: filled(args.slice(at + 1), '{}', `${withoutEnd(path, '/')}/${unknownText}`) }];
}

function filled(argv: readonly string[], marker: string, word: string): string[] {
  return argv.map((part) => part.replaceAll(marker, word));
}

function startOfXargs({ args, input }: Invocation, scope: Scope): Started {
  const unbounded = args.some((arg, index) => /^-P0$|^--max-procs=0$/.test(arg) || (arg === '-P' && args[index + 1] === '0'));
  if (unbounded && (input.from.some(({ program }) => program === 'yes') || args.some((arg) => /[^&]&\s*$/.test(arg))))
    scope.high('Starts programs without end.');
  const marker = args.findIndex((arg) => arg === '-I' || arg === '-i' || arg === '--replace');
  const glued = args.find((arg) => /^-I./.test(arg))?.slice(2);
  const replaced = glued ?? (marker === -1 ? undefined : (args[marker + 1] ?? '{}'));
  const values = '-I -n -P -L -d -s -a -E --max-args --max-procs --delimiter --max-lines'.split(' ');
  const rest = afterOptions(args, { values });
  // With a marker each line is one word.
  const words = (input.text ?? unknownText)
    .trim()
    .split(replaced === undefined ? /\s+/ : /\n+/)
    .filter((word) => word !== '');
  if (rest.length === 0) return [{ argv: ['echo', ...words] }];
  if (replaced === undefined) return [{ argv: [...rest, ...words] }];
  return words.slice(0, 8).map((word) => ({ argv: filled(rest, replaced, word) }));
}

function startOfParallel({ args, input }: Invocation): Started | undefined {
  const rest = afterOptions(args, { values: ['-j', '--jobs', '-a', '-N', '-n', '-S'] });
  const at = rest.findIndex((word) => word.startsWith(':::'));
  const words = at === -1 ? [input.text?.trim() ?? unknownText] : rest.slice(at + 1);
  const command = (at === -1 ? rest : rest.slice(0, at)).join(' ');
  const complete = (word: string) => (command === '' ? word : command.includes('{}') ? command.replaceAll('{}', word) : `${command} ${word}`);
  return words.slice(0, 8).map((word) => ({ argv: [], source: complete(word) }));
}
