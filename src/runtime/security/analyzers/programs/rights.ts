/** Programs that change who may do what with a file. */
import { judgeRemoval, show } from '../paths/changes.js';
import type { Invocation } from '../shell/invocation.js';
import type { Scope } from '../shell/scope.js';
import { type Checks, each, has, operands } from './check.js';

export const rights: Checks = each('chmod chown chgrp setfacl chattr', judgeRights);

function judgeRights({ program, args }: Invocation, scope: Scope): void {
  const recursive = has(args, 'R', 'recursive');
  const words = operands(args.filter((arg) => !/^-[rwxXst]+$/.test(arg)));
  // Its entry follows an option, or there is none.
  const [mode = '', ...paths] = program === 'setfacl' ? ['', ...words] : words;
  const minus = args.find((arg) => /^[-+=]?-[rwxst]+$/.test(arg));
  if (program === 'chmod' && (/^[0-7]*[2467][0-7]{3}$/.test(mode) || /[ugoa]*[+=][rwx]*s/.test(mode)))
    scope.high('Makes a program that runs with the rights of its owner.');
  for (const path of minus === undefined || program !== 'chmod' ? paths : [mode, ...paths]) {
    const place = scope.place(path);
    if (scope.downloaded.has(place) && /x|[1357]/.test(mode))
      scope.medium(`Makes a fetched file executable: ${show(place)}`);
    if (/^\/\0/.test(place) || /^\/(?:home|root|var)\/\0/.test(path))
      scope.high('Changes the rights of files all over the machine.');
    if (
      /^~\/\.(?:ssh|gnupg|aws|kube)(?:\/|$)/.test(place) &&
      /^0?[0-7]?[0-7][4-7][0-7]?$|^[ugoa]*\+[rwx]*r|^a=/.test(mode) &&
      !/^0?[0-7]00$/.test(mode)
    )
      scope.high(`Opens keys to others: ${show(place)}`);
    const top = judgeRemoval(place, true);
    if (recursive && top?.risk === 'high' && place !== '.' && !place.startsWith('./'))
      scope.high(`Changes the rights of everything below ${show(place)}`);
    else if (
      /^\/(?:etc|bin|sbin|usr|lib\w*|boot|dev|proc|sys|root|var\/(?:log|lib|spool|run))(?:\/|$)/.test(
        place,
      ) &&
      !place.startsWith('/usr/local/')
    )
      scope.high(`Changes the rights of a file of the system: ${show(place)}`);
    else if (/docker\.sock$/.test(place)) scope.high('Opens the control socket of the container engine.');
  }
  if (program === 'chmod' && /^0?[0-7]?77[67]$|^a\+rwx$|^\+rwx$|^o\+w|^a=rwx$|^ugo\+rwx$/.test(mode))
    scope.medium('Lets everybody write.');
  if (program === 'chown' && /^(?:root|0)\b/.test(mode)) scope.medium('Gives files to root.');
  if (program === 'chattr' && args.some((arg) => /^[+-][ia]+$/.test(arg)))
    scope.medium('Makes files that cannot be changed, or lifts that.');
}
