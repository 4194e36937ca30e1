/** What belongs to the shell itself: its variables, options, history and working directory. */
import { unknownText } from '../../paths/place.js';
import type { Invocation } from '../../shell/invocation.js';
import { outputOf } from '../../shell/output.js';
import type { Scope } from '../../shell/scope.js';
import { has } from '../arguments.js';
import type { Rule } from '../rule.js';
import { judgeAssignment } from '../variables.js';

const sharedPlace = /^\/(?:tmp|var\/tmp|dev\/shm)\//;
const replaced = 'Makes the name of a command stand for another program.';
const unrecorded = 'Keeps the shell from recording its history.';

export const shell: readonly Rule[] = [
  { programs: 'declare typeset local', option: '-n', judge: refer },
  { programs: 'export declare typeset local readonly env sudo', judge: assign },
  { programs: 'hash', option: '-p', medium: replaced, highWhen: { place: sharedPlace } },
  { programs: 'enable', option: '-f', medium: 'Loads a library into the shell.', highWhen: { place: sharedPlace } },
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
  { programs: 'read mapfile readarray', judge: readVariables },
  {
    programs: 'cd pushd',
    judge: ({ args }, scope) => {
      scope.cwd = scope.place(args.find((arg) => !arg.startsWith('-')) ?? '~');
    },
  },
];

function refer({ args }: Invocation, scope: Scope): void {
  for (const arg of args) {
    const [, name, target] = /^(\w+)=(\w+)$/.exec(arg) ?? [];
    if (name !== undefined && target !== undefined && name !== target) scope.references.set(name, target);
  }
}

function assign({ program, args }: Invocation, scope: Scope): void {
  if (/^(?:declare|typeset|local)$/.test(program) && has(args, 'n')) return;
  for (const arg of args) {
    const [, name, value] = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(arg) ?? [];
    if (name === undefined || value === undefined) continue;
    judgeAssignment(scope.resolve(name), value, scope);
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

/**
 * We do not know the text that a command reads from a file or a program, and whoever runs the variable runs that
 * text.
 */
function readVariables(invocation: Invocation, scope: Scope): void {
  const { program, args, input } = invocation;
  const valued = program === 'read' ? /^-[a-zA-Z]*[diNnptu]$/ : /^-[a-zA-Z]*[dnOsuCc]$/;
  const names = args.filter((arg, index) => /^[A-Za-z_]\w*$/.test(arg) && !valued.test(args[index - 1] ?? ''));
  const named = program === 'read' ? names : names.slice(-1);
  const text = input.text?.trim();
  const from = input.file === undefined ? input.from : [invocation];
  for (const name of named.length > 0 ? named : [program === 'read' ? 'REPLY' : 'MAPFILE'])
    scope.set(name, text ?? unknownText, text === undefined ? from : []);
}
