/** What holds for one command only: its working directory, its variables and its standard input. */

import { quote } from '../../../base/shell-quote.js';
import type { Action } from '../../../protocol/index.js';
import type { Tree } from '../files/file-tree.js';

export interface Scope {
  /** Shell source to run before the command. */
  readonly before: string;
  /** Shell source that undoes it. */
  readonly after: string;
}

export function scopeOf({ cwd, env = {}, emptyStdin }: Action<'run'>, tree: Tree): Scope {
  let before = '';
  let after = '';
  Object.entries(env).forEach(([name, value], index) => {
    const [had, old] = [`__workcell_had${index}`, `__workcell_old${index}`];
    before += `${had}=; if [[ -v ${name} ]]; then ${had}=v\${${name}@a} ${old}=$${name}; fi;\\builtin export ${name}=${quote(value)};`;
    after += `case $${had} in '') \\builtin unset ${name};; *x*) ${name}=$${old};; *) ${name}=$${old}; \\builtin export -n ${name};; esac;`;
  });
  if (cwd !== undefined) {
    const directory = quote(tree.checkDirectory(cwd));
    before += `__workcell_pwd=$PWD;\\builtin cd -- ${directory};`;
    // A command that moved on by itself has chosen where the session continues.
    after += `if [[ $PWD == ${directory} ]]; then \\builtin cd -- "$__workcell_pwd"; fi;`;
  }
  if (emptyStdin) {
    before += '\\exec </dev/null;';
    after += '\\exec <>"$__workcell_terminal";';
  }
  return { before, after };
}

/** Exports variables that got a value and unsets removed ones. */
export function exportStatements(changes: ReadonlyMap<string, string | undefined>): string {
  return [...changes]
    .map(([name, value]) =>
      value === undefined ? `\\builtin unset ${name};` : `\\builtin export ${name}=${quote(value)};`,
    )
    .join('');
}
