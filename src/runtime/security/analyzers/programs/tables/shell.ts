/** What belongs to the shell itself: its variables, options, history and working directory. */
import { unknownText } from '../../paths/place.js';
import type { Invocation } from '../../shell/invocation.js';
import { outputOf } from '../../shell/output.js';
import type { Scope } from '../../shell/scope.js';
import type { Rule } from '../rule.js';
import { judgeAssignment } from '../variables.js';

const unrecorded = 'Keeps the shell from recording its history.';

export const shell: readonly Rule[] = [
  { programs: 'export declare typeset local readonly env sudo', judge: assign },
  { programs: 'unset', arg: 'HISTFILE HISTSIZE PROMPT_COMMAND', high: unrecorded },
  {
    programs: 'unset',
    judge: ({ args }, scope) => {
      for (const arg of args) scope.unset(arg);
    },
  },
  { programs: 'set', line: /^\+o history(?: |$)/, high: unrecorded },
  { programs: 'set', arg: '--', judge: setPositional },
  { programs: 'shopt', arg: /^-\w*u/, line: ['history'], high: unrecorded },
  { programs: 'printf', line: /^-v /, judge: printIntoVariable },
  { programs: 'read', judge: readVariables },
  {
    programs: 'cd pushd',
    judge: ({ args }, scope) => {
      scope.cwd = scope.place(args.find((arg) => !arg.startsWith('-')) ?? '~');
    },
  },
];

function assign({ args }: Invocation, scope: Scope): void {
  for (const arg of args) {
    const [, name, value] = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(arg) ?? [];
    if (name === undefined || value === undefined) continue;
    judgeAssignment(name, value, scope);
    scope.set(name, value);
  }
}

function setPositional({ args }: Invocation, scope: Scope): void {
  scope.positional = args.slice(args.indexOf('--') + 1);
}

function printIntoVariable({ args, input }: Invocation, scope: Scope): void {
  const [, name = '', ...rest] = args;
  scope.set(name, outputOf({ program: 'printf', args: rest, input }) ?? unknownText);
}

function readVariables({ args, input }: Invocation, scope: Scope): void {
  for (const arg of args) if (/^[A-Za-z_]\w*$/.test(arg)) scope.set(arg, input.text?.trim() ?? unknownText);
}
