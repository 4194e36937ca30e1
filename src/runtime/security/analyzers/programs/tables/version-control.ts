/** Repositories: what loses work, rewrites what others have, or makes git run programs. */
import { withoutEnd } from '../../../../../base/without-end.js';
import { judgeWrite } from '../../paths/changes.js';
import { judgeRead } from '../../paths/sensitive.js';
import type { Invocation } from '../../shell/invocation.js';
import type { Scope } from '../../shell/scope.js';
import { has, operands, valuesOf } from '../arguments.js';
import { afterGlobalOptions, judgeSetting, judgeSettingText, worldWritable } from '../judge-git-settings.js';
import type { Rule } from '../rule.js';

/** Options before the verb that take the next word. */
const values = '-c -C --git-dir --work-tree --namespace --config-env --super-prefix --attr-source';
const git = { programs: 'git', values } as const;
/** Branches that others build on. */
const shared = /(?:^|[:+/])(?:main|master|trunk|develop|production|prod|release(?:[/-].*)?)$/;
const servers = 'gh glab hub';
const thrownAway = 'Throws away changes that are not committed.';
const passwords = 'Prints stored passwords.';

export const versionControl: readonly Rule[] = [
  { programs: 'git', judge: judgeGlobals },
  { programs: 'git', arg: /^(?:--upload-pack|--receive-pack|--exec)=|^ext::/, high: 'Starts a program through an option of git.' },
  { ...git, verb: 'credential-*', arg: 'get', high: passwords },
  { ...git, words: 'credential fill', high: passwords },
  { ...git, verb: 'remote', judge: inVerb(noteRemote) },
  { ...git, verb: 'clone', judge: inVerb(judgeClone) },
  { ...git, verb: 'push', judge: inVerb(judgePush) },
  { ...git, verb: 'reset', arg: '--hard', medium: thrownAway },
  { ...git, verb: 'clean', option: '-f --force', unless: { option: '-n --dry-run' }, medium: 'Removes files that git does not track.' },
  { ...git, words: /^clean(?: .*)? \/(?: |$)/, option: '-f --force', high: 'Removes files that git does not track, from the top of the file system.' },
  { ...git, words: /^checkout(?: .*)? \.(?: |$)/, medium: thrownAway },
  { ...git, verb: 'checkout', option: '-f --force', medium: thrownAway },
  { ...git, words: /^restore(?: .*)? \.(?: |$)/, unless: { arg: '--staged' }, medium: thrownAway },
  { ...git, words: ['stash drop', 'stash clear'], medium: 'Throws away stashed changes.' },
  {
    ...git,
    verb: 'branch',
    test: ({ args }) => args.includes('-D') || (has(args, 'd', 'delete') && has(args, 'f', 'force')),
    medium: 'Deletes a branch that may not be merged.',
  },
  { ...git, verb: 'filter-branch filter-repo', medium: 'Rewrites the history of the repository.' },
  {
    ...git,
    words: ['reflog expire', 'reflog delete'],
    medium: 'Removes the way back to earlier states.',
    highWhen: { arg: '--all', line: /--expire[\w-]*=(?:now|all|0)/ },
  },
  { ...git, verb: 'update-ref', arg: '-d', medium: 'Removes a reference of the repository.', highWhen: { arg: shared } },
  { ...git, verb: 'config', judge: inVerb(judgeConfig) },
  { ...git, verb: 'daemon', medium: 'Waits for connections from the network.' },
  { programs: servers, words: 'repo delete', high: 'Deletes a repo on the server.' },
  { programs: servers, words: 'release delete', medium: 'Deletes a release on the server.' },
  { programs: servers, words: 'secret delete', medium: 'Deletes a secret on the server.' },
  { programs: servers, words: 'variable delete', medium: 'Deletes a variable on the server.' },
  { programs: servers, words: 'auth token', high: 'Prints the token of the account.' },
  { programs: servers, verb: 'auth', arg: '--show-token', high: 'Prints the token of the account.' },
  { programs: servers, words: 'repo edit', arg: '--visibility*', high: 'Changes who may see a repository.' },
  { programs: servers, words: 'ssh-key add', high: 'Adds a key to the account.' },
  { programs: servers, words: 'pr merge', arg: '--admin', medium: 'Merges past the protection of the branch.' },
  {
    programs: servers,
    words: 'gist create',
    cases: [
      { test: ({ args }, scope) => operands(args).some((path) => judgeRead(scope.place(path))?.risk === 'high'), high: 'Publishes credentials.' },
      { arg: '-p --public', medium: 'Publishes a file.' },
    ],
  },
  { programs: servers, verb: 'api', value: { '-X --method': 'DELETE' }, medium: 'Deletes something on the server.' },
];

function inVerb(judge: (args: readonly string[], scope: Scope) => void) {
  return ({ args }: Invocation, scope: Scope): void => judge(afterGlobalOptions(args).slice(1), scope);
}

function judgeGlobals({ args }: Invocation, scope: Scope): void {
  for (const [index, arg] of args.entries()) {
    if (arg === '-c') judgeSettingText(args[index + 1] ?? '', scope);
    if (arg.startsWith('--config-env=')) judgeSettingText(arg.slice('--config-env='.length), scope);
  }
  const programs = args.find((arg) => arg.startsWith('--exec-path='))?.slice('--exec-path='.length);
  if (programs !== undefined) scope.findings.add(worldWritable.test(programs) ? 'high' : 'medium', `Makes git take its own programs from ${programs}.`);
}

function noteRemote(args: readonly string[], scope: Scope): void {
  const [verb, name] = operands(args);
  if ((verb === 'add' || verb === 'set-url') && name !== undefined) scope.remotes.add(name);
}

function judgeClone(args: readonly string[], scope: Scope): void {
  for (const setting of valuesOf(args, /^(?:-c|--config)$/)) judgeSettingText(setting, scope);
  const [address = '', directory] = operands(args);
  const plain = withoutEnd(address, '/').replace(/\.git$/, '');
  const name = directory ?? plain.split(/[/:]/).at(-1) ?? '';
  if (name !== '') scope.cloned.add(scope.place(name));
}

function judgePush(args: readonly string[], scope: Scope): void {
  const [remote = '', ...references] = operands(args);
  const lasting = references.some((reference) => shared.test(reference)) || has(args, '', 'mirror', 'all');
  if (/^(?:https?|ssh|git):\/\/|^[^/]+@[^/]+:/.test(remote) || scope.remotes.has(remote)) scope.high(`Sends the repository to an address of choice: ${remote}`);
  if (has(args, 'f', 'force', 'mirror') || args.some((arg) => arg.startsWith('+')))
    scope.findings.add(lasting ? 'high' : 'medium', 'Overwrites what is on the server.');
  else if (args.some((arg) => /^--force-with-lease/.test(arg))) scope.medium('Overwrites what is on the server.');
  if (has(args, 'd', 'delete') || args.some((arg) => /^:\w/.test(arg))) scope.findings.add(lasting ? 'high' : 'medium', 'Deletes a branch on the server.');
}

function judgeConfig(args: readonly string[], scope: Scope): void {
  const named = new Set(valuesOf(args, /^(?:-f|--file|--blob|--type|-t|--default|--value|--comment)$/));
  for (const file of valuesOf(args, /^(?:-f|--file)$/)) {
    const found = judgeWrite(scope.place(file));
    if (found !== undefined) scope.findings.add(found.risk, found.reason);
  }
  const [key = '', value] = operands(args).filter((word) => word !== 'set' && !named.has(word));
  if (value !== undefined) judgeSetting(key, value, scope);
}
