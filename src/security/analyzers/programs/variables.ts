/** Variables that make other programs do something else. */
import { unknownText } from '../paths/place.js';
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
      /^(?:\/tmp|\/dev\/shm|\.\/|\/var\/tmp)/.test(value) ? 'high' : 'medium',
      `Loads a library into other programs through ${name}.`,
    );
  if (
    /^(?:BASH_ENV|ENV|PYTHONSTARTUP|PERL5OPT|RUBYOPT|NODE_OPTIONS|GIT_EXEC_PATH)$/.test(name) &&
    /^(?:\/tmp|\/dev\/shm|\/var\/tmp)|-(?:r|-require)[ =]*\/tmp/.test(value)
  )
    scope.high(`Makes other programs run code through ${name}.`);
  if (
    /^(?:PROMPT_COMMAND|GIT_SSH_COMMAND|GIT_EDITOR|EDITOR|VISUAL|PAGER|GIT_PAGER|MANPAGER|BROWSER|PS4)$/.test(
      name,
    ) &&
    /[\s;|&$]/.test(value)
  )
    scope.read(value);
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
    if (args.includes('-uo') && args.includes('history'))
      scope.high('Keeps the shell from recording its history.');
  },
  read: ({ args, input }, scope) => {
    for (const arg of args) if (/^[A-Za-z_]\w*$/.test(arg)) scope.set(arg, input.text?.trim() ?? unknownText);
  },
  ...each('cd pushd', ({ args }, scope) => {
    const target = args.find((arg) => !arg.startsWith('-')) ?? '~';
    scope.cwd = scope.place(target);
  }),
};
