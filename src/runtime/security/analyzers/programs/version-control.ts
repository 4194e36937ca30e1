/** Repositories: what loses work, rewrites what others have, or makes git run programs. */
import { own } from '../own.js';
import { judgeWrite } from '../paths/changes.js';
import { judgeRead } from '../paths/sensitive.js';
import type { Scope } from '../shell/scope.js';
import { type Checks, each, has, operands } from './check.js';

const programKeys =
  /^(?:core\.(?:sshcommand|fsmonitor|editor|pager|gitproxy|askpass|hookspath)|alias\.\w+|credential(?:\..*)?\.helper|filter\..*\.(?:clean|smudge)|diff\..*\.(?:command|textconv)|sequence\.editor|uploadpack\.packobjectshook|protocol\.ext\.allow|gpg\.program|init\.templatedir|merge\..*\.driver|.*\.textconv|include(?:if\..*)?\.path)$/i;

/** Values that switch a setting off, or name a program that does nothing. */
const startsNothing = /^(?:|true|false|yes|no|on|off|0|1|:|cat|\/dev\/null)$/i;

/** Branches that others build on. */
const shared = /(?:^|[:+/])(?:main|master|trunk|develop|production|prod|release(?:[/-].*)?)$/;

const worldWritable = /(?:^|[\s!'"=])\/(?:tmp|var\/tmp|dev\/shm)(?:\/|$)/;

export const versionControl: Checks = {
  git: ({ args }, scope) => {
    const settings = args.flatMap((arg, index) =>
      arg === '-c' ? [args[index + 1] ?? ''] : arg.startsWith('--config-env=') ? [arg.slice(13)] : [],
    );
    for (const setting of settings)
      judgeSetting(setting.split('=')[0] ?? '', setting.slice(setting.indexOf('=') + 1), scope);
    const words = stripGlobal(args);
    const [verb = '', ...rest] = words;
    if (args.some((arg) => /^(?:--upload-pack|--receive-pack|--exec)=|^ext::/.test(arg)))
      scope.high('Starts a program through an option of git.');
    const programs = args.find((arg) => arg.startsWith('--exec-path='))?.slice(12);
    if (programs !== undefined)
      scope.findings.add(
        worldWritable.test(programs) ? 'high' : 'medium',
        `Makes git take its own programs from ${programs}.`,
      );
    if (/^credential-/.test(verb) && rest.includes('get')) scope.high('Prints stored passwords.');
    const check = own(verbs, verb);
    check?.(rest, scope);
  },
  ...each('gh glab hub', ({ args }, scope) => {
    const [noun, verb] = args;
    if (verb === 'delete' && /^(?:repo|release|secret|variable)$/.test(noun ?? ''))
      scope.findings.add(noun === 'repo' ? 'high' : 'medium', `Deletes a ${noun} on the server.`);
    if (noun === 'auth' && (verb === 'token' || args.includes('--show-token')))
      scope.high('Prints the token of the account.');
    if (noun === 'repo' && verb === 'edit' && args.some((arg) => /^--visibility/.test(arg)))
      scope.high('Changes who may see a repository.');
    if (noun === 'ssh-key' && verb === 'add') scope.high('Adds a key to the account.');
    if (noun === 'pr' && verb === 'merge' && args.includes('--admin'))
      scope.medium('Merges past the protection of the branch.');
    if (noun === 'gist' && verb === 'create') {
      const secret = operands(args.slice(2)).some((path) => judgeRead(scope.place(path))?.risk === 'high');
      if (secret) scope.high('Publishes credentials.');
      else if (args.some((arg) => /^(?:-p|--public)$/.test(arg))) scope.medium('Publishes a file.');
    }
    if (
      noun === 'api' &&
      args.some((arg, index) => /^(?:-X|--method)$/.test(arg) && args[index + 1] === 'DELETE')
    )
      scope.medium('Deletes something on the server.');
  }),
};

type VerbCheck = (args: readonly string[], scope: Scope) => void;

const verbs: Readonly<Record<string, VerbCheck | undefined>> = {
  remote: (args, scope) => {
    const [verb, name] = operands(args);
    if ((verb === 'add' || verb === 'set-url') && name !== undefined) scope.remotes.add(name);
  },
  clone: (args, scope) => {
    for (const setting of valuesOf(args, /^(?:-c|--config)$/)) {
      const [key = ''] = setting.split('=', 1);
      judgeSetting(key, setting.slice(key.length + 1), scope);
    }
    const [address = '', directory] = operands(args);
    const name =
      directory ??
      address
        .replace(/\/+$/, '')
        .replace(/\.git$/, '')
        .split(/[/:]/)
        .at(-1) ??
      '';
    if (name !== '') scope.cloned.add(scope.place(name));
  },
  push: (args, scope) => {
    const [remote = '', ...references] = operands(args);
    const lasting = references.some((reference) => shared.test(reference)) || has(args, '', 'mirror', 'all');
    if (/^(?:https?|ssh|git):\/\/|^[^/]+@[^/]+:/.test(remote) || scope.remotes.has(remote))
      scope.high(`Sends the repository to an address of choice: ${remote}`);
    if (has(args, 'f', 'force', 'mirror') || args.some((arg) => arg.startsWith('+')))
      scope.findings.add(lasting ? 'high' : 'medium', 'Overwrites what is on the server.');
    else if (args.some((arg) => /^--force-with-lease/.test(arg)))
      scope.medium('Overwrites what is on the server.');
    if (has(args, 'd', 'delete') || args.some((arg) => /^:\w/.test(arg)))
      scope.findings.add(lasting ? 'high' : 'medium', 'Deletes a branch on the server.');
  },
  reset: (args, scope) => {
    if (args.includes('--hard')) scope.medium('Throws away changes that are not committed.');
  },
  clean: (args, scope) => {
    if (has(args, 'f', 'force') && !has(args, 'n', 'dry-run'))
      scope.medium('Removes files that git does not track.');
  },
  checkout: (args, scope) => {
    if (args.includes('.') || has(args, 'f', 'force') || (args.includes('--') && args.at(-1) === '.'))
      scope.medium('Throws away changes that are not committed.');
  },
  restore: (args, scope) => {
    if (args.includes('.') && !args.includes('--staged'))
      scope.medium('Throws away changes that are not committed.');
  },
  stash: (args, scope) => {
    if (/^(?:drop|clear)$/.test(args[0] ?? '')) scope.medium('Throws away stashed changes.');
  },
  branch: (args, scope) => {
    if (args.includes('-D') || (has(args, 'd', 'delete') && has(args, 'f', 'force')))
      scope.medium('Deletes a branch that may not be merged.');
  },
  'filter-branch': (_, scope) => scope.medium('Rewrites the history of the repository.'),
  'filter-repo': (_, scope) => scope.medium('Rewrites the history of the repository.'),
  reflog: (args, scope) => {
    if (!/^(?:expire|delete)$/.test(args[0] ?? '')) return;
    const all = args.includes('--all') && args.some((arg) => /^--expire[\w-]*=(?:now|all|0)/.test(arg));
    scope.findings.add(all ? 'high' : 'medium', 'Removes the way back to earlier states.');
  },
  'update-ref': (args, scope) => {
    if (args.includes('-d'))
      scope.findings.add(
        args.some((arg) => shared.test(arg)) ? 'high' : 'medium',
        'Removes a reference of the repository.',
      );
  },
  config: (args, scope) => {
    const named = new Set(valuesOf(args, /^(?:-f|--file|--blob|--type|-t|--default|--value|--comment)$/));
    for (const file of valuesOf(args, /^(?:-f|--file)$/)) {
      const found = judgeWrite(scope.place(file));
      if (found !== undefined) scope.findings.add(found.risk, found.reason);
    }
    const [key = '', value] = operands(args).filter((word) => word !== 'set' && !named.has(word));
    if (value !== undefined) judgeSetting(key, value, scope);
  },
  credential: (args, scope) => {
    if (args[0] === 'fill') scope.high('Prints stored passwords.');
  },
  'credential-store': (args, scope) => {
    if (args.includes('get')) scope.high('Prints stored passwords.');
  },
  daemon: (_, scope) => scope.medium('Waits for connections from the network.'),
};

/** Judges one setting of git, wherever it is made. */
export function judgeSetting(key: string, value: string, scope: Scope): void {
  const [, replacing] = /^url\.(.+)\.(?:push)?insteadof$/i.exec(key) ?? [];
  if (replacing !== undefined && hostOf(replacing) !== hostOf(value))
    scope.high(`Makes git go to another server than it is told: ${replacing}`);
  if (/helper$/i.test(key) && /\b(?:nc|ncat|socat|curl|wget|telnet)\b|\/dev\/tcp\//.test(value))
    scope.high('Sends passwords of git over the network.');
  if (/^(?:http\.(?:.*\.)?sslverify)$/i.test(key) && /^(?:false|0|no)$/i.test(value))
    scope.medium('Switches off the check of who a server is.');
  if (!programKeys.test(key) || startsNothing.test(value)) return;
  // Anybody on the machine may put a program there.
  if (worldWritable.test(value)) scope.high(`Makes git run a program from a shared directory: ${key}`);
  if (/^alias\./.test(key) && !value.startsWith('!')) return;
  if (/^core\.(?:editor|pager)$/i.test(key) && !/[;|&$`/]/.test(value)) return;
  if (/helper$/i.test(key) && !value.startsWith('!') && !value.includes('/')) {
    scope.medium('Stores passwords of git.');
    return;
  }
  scope.medium(`Makes git run a program: ${key}`);
  if (!/hookspath|templatedir|^include/i.test(key)) scope.read(value.replace(/^!/, ''));
}

/** Of an address in any of the forms that git knows. */
function hostOf(address: string): string {
  return /^(?:[a-z+]+:\/\/)?(?:[^@/]*@)?([^:/]*)/i.exec(address)?.[1] ?? '';
}

/** `-x value`, `--option value` and `--option=value`. */
export function valuesOf(args: readonly string[], option: RegExp): string[] {
  return args.flatMap((arg, index) => {
    if (option.test(arg)) return [args[index + 1] ?? ''];
    const [, long = '', value] = /^(--[\w-]+)=([\s\S]*)$/.exec(arg) ?? [];
    return value !== undefined && option.test(long) ? [value] : [];
  });
}

/** The verb of git and what follows it. */
export function stripGlobal(args: readonly string[]): string[] {
  let index = 0;
  while (index < args.length && (args[index] ?? '').startsWith('-'))
    index += /^(?:-c|-C|--git-dir|--work-tree|--namespace|--config-env|--super-prefix|--attr-source)$/.test(
      args[index] ?? '',
    )
      ? 2
      : 1;
  return args.slice(index);
}
