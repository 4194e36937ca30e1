/** Variables that make other programs do something else. */
import { unknownText } from '../paths/place.js';
import type { Invocation } from '../shell/invocation.js';
import { outputOf } from '../shell/output.js';
import type { Scope } from '../shell/scope.js';
import type { Checks } from './check.js';
import { each } from './check.js';

/** Judges `NAME=value`, however it is set. */
export function judgeAssignment(name: string, value: string, scope: Scope): void {
  if (/^(?:HISTFILE|HISTSIZE|HISTFILESIZE|SAVEHIST|HISTCONTROL|HISTIGNORE)$/.test(name)) {
    if (
      name === 'HISTFILE'
        ? /^$|\/dev\/null/.test(value)
        : name === 'HISTIGNORE'
          ? value === '*'
          : value === '0'
    )
      scope.high('Keeps the shell from recording its history.');
  }
  if (/^LD_(?:PRELOAD|AUDIT)$|^DYLD_INSERT_LIBRARIES$/.test(name) && value !== '')
    scope.findings.add(
      /^(?:\/usr\/lib|\/lib|lib\w+\.so)/.test(value) ? 'medium' : 'high',
      `Loads a library into other programs through ${name}.`,
    );
  if (
    /^(?:BASH_ENV|ENV|PYTHONSTARTUP|PERL5OPT|PERL5LIB|PERL5DB|RUBYOPT|RUBYLIB|NODE_OPTIONS|NODE_PATH|PYTHONPATH|PYTHONHOME|PYTHONINSPECT|GIT_EXEC_PATH|GIT_TEMPLATE_DIR|LD_LIBRARY_PATH|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|LESSOPEN|LESSCLOSE|PHPRC|PHP_INI_SCAN_DIR)$/.test(
      name,
    ) &&
    /^(?:\/tmp|\/dev\/shm|\/var\/tmp)|(?:-(?:r|-require|-import|javaagent:?|agentpath:?|M|I)[ =]*|\|\s*)\/(?:tmp|dev\/shm)/.test(
      value,
    )
  )
    scope.high(`Makes other programs run code through ${name}.`);
  if (
    /^(?:PROMPT_COMMAND|GIT_SSH_COMMAND|GIT_EDITOR|EDITOR|VISUAL|PAGER|GIT_PAGER|MANPAGER|BROWSER|PS1|PS4|GIT_SSH|GIT_PROXY_COMMAND|GIT_EXTERNAL_DIFF|GIT_ASKPASS|SSH_ASKPASS|SUDO_ASKPASS|FCEDIT|LESSOPEN|RSYNC_RSH|GIT_SEQUENCE_EDITOR)$/.test(
      name,
    ) &&
    /[\s;|&$]/.test(value)
  )
    scope.read(value);
  if (/^(?:GIT_SSL_NO_VERIFY|NODE_TLS_REJECT_UNAUTHORIZED|PYTHONHTTPSVERIFY)$/.test(name))
    scope.medium('Switches off the check of who a server is.');
  if (/^BASH_FUNC_|^command_not_found_handle$/.test(name))
    scope.high(`Makes other programs run code through ${name}.`);
  if (name === 'PATH' && /^(?:\.?(?=:)|\.$|(?:\/tmp|\/dev\/shm|\/var\/tmp)(?:[:/]|$))/.test(value))
    scope.medium('Puts a directory that others may write before the programs of the system.');
}

export const variables: Checks = {
  ...each('export declare typeset local readonly env sudo', ({ args }, scope) => {
    for (const arg of args) {
      const [, name, value] = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(arg) ?? [];
      if (name === undefined || value === undefined) continue;
      judgeAssignment(name, value, scope);
      scope.set(name, value);
    }
  }),
  unset: ({ args }, scope) => {
    if (args.some((arg) => /^(?:HISTFILE|HISTSIZE|PROMPT_COMMAND)$/.test(arg)))
      scope.high('Keeps the shell from recording its history.');
    for (const arg of args) scope.unset(arg);
  },
  set: ({ args }, scope) => {
    if (args[0] === '+o' && args[1] === 'history') scope.high('Keeps the shell from recording its history.');
    const at = args.indexOf('--');
    if (at !== -1) scope.positional = args.slice(at + 1);
  },
  shopt: ({ args }, scope) => {
    if (args.some((arg) => /^-\w*u/.test(arg)) && args.includes('history'))
      scope.high('Keeps the shell from recording its history.');
  },
  printf: ({ args }, scope) => {
    const [option, name, ...rest] = args;
    if (option === '-v' && name !== undefined)
      scope.set(
        name,
        outputOf({ program: 'printf', args: rest, input: { from: [] } } as unknown as Invocation) ??
          unknownText,
      );
  },
  read: ({ args, input }, scope) => {
    for (const arg of args) if (/^[A-Za-z_]\w*$/.test(arg)) scope.set(arg, input.text?.trim() ?? unknownText);
  },
  ...each('cd pushd', ({ args }, scope) => {
    const target = args.find((arg) => !arg.startsWith('-')) ?? '~';
    scope.cwd = scope.place(target);
  }),
};
