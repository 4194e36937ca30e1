/** Credentials among the words of a command. */

import { wordSet } from '../lookup.js';
import { show } from '../paths/changes.js';
import { judgeRead } from '../paths/sensitive.js';
import type { Invocation } from '../shell/invocation.js';
import type { Scope } from '../shell/scope.js';

/** Programs that name a file without giving its content away, or whose words are not paths. */
const harmless = wordSet(
  'echo printf ls ll dir stat test [ [[ chmod chown mkdir touch file which type cd pushd rm rmdir unlink ssh-add ssh-keygen ssh-copy-id du df tree realpath readlink basename dirname export alias true false : git export declare local readonly unset ssh-agent find rename chattr shred truncate trap sudo env nohup timeout time command exec xargs watch docker kubectl bash sh eval cmp sha256sum md5sum shasum ufw systemctl ssh wc tee',
);
const searchers = wordSet('grep egrep fgrep rg ag ack sed awk gawk jq yq perl');
/** The last word of these is where something goes to. */
const copiers = new Set(['cp', 'mv', 'install', 'ln', 'scp', 'rsync']);
const keyOptions =
  /^(?:-i|--private-key|--key|--cert|--cacert|-F|--kubeconfig|--env-file|--identity|--netrc-file|--exclude.*)$/;

export function judgeReads({ program, args }: Invocation, scope: Scope): void {
  if (args.length === 0 || harmless.has(program)) return;
  const last = copiers.has(program) ? args.length - 1 : args.length;
  let pattern =
    searchers.has(program) && !args.some((arg) => /^-[ef]$|^--(?:regexp|file|expression)/.test(arg));
  for (const [index, arg] of args.entries()) {
    if (arg.startsWith('-') && !arg.includes('=')) continue;
    if (pattern) {
      pattern = false;
      continue;
    }
    if (index === last || (index > 0 && keyOptions.test(args[index - 1] ?? ''))) continue;
    const path = pathIn(arg);
    if (path === undefined) continue;
    const found = judgeRead(scope.place(path));
    if (found !== undefined) scope.findings.add(found.risk, `Reads ${found.what}: ${show(path)}`);
  }
}

/** The path in a word such as `x`, `name=@x`, `if=x` or `user@host:x`. */
function pathIn(arg: string): string | undefined {
  if (arg.length > 4096 || arg.includes('\n')) return undefined;
  if (/^file:\/\//.test(arg)) return arg.slice('file://'.length);
  if (/^[a-z][a-z+.-]*:\/\//.test(arg)) return undefined;
  const value =
    /^[\w.-]*=?@(.+)$/.exec(arg)?.[1] ??
    /^-{1,2}[\w-]+=@?(.+)$/.exec(arg)?.[1] ??
    /^(?:if|file|path)=(.+)$/.exec(arg)?.[1] ??
    arg;
  return value.includes(' ') && !/^[~/]/.test(value) ? undefined : value;
}
