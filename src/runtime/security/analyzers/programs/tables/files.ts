/** Programs that remove, overwrite, move or open up files. */
import { judgeCode } from '../../code/judge.js';
import { judgeRemoval, judgeWrite, show } from '../../paths/changes.js';
import { judgeRead } from '../../paths/sensitive.js';
import type { Invocation } from '../../shell/invocation.js';
import type { Scope } from '../../shell/scope.js';
import { has, operands, optionValue } from '../arguments.js';
import { endless, follow, judgeSize, noteDownload, remove, worldWritable, write, writeEndless } from '../file-effects.js';
import type { Rule } from '../rule.js';

const forOwner = 'Makes a program that runs with the rights of its owner.';
const keySearch = 'Searches the machine for keys and passwords.';
const systemFile = /^\/(?:bin|sbin|usr|lib|etc)/;
const programPlaces = /^(?:\/usr(?:\/local)?\/s?bin|\/s?bin|\/opt\/[^/]+\/bin|~\/\.local\/bin|~\/bin|(?:.*\/)?\.git\/hooks)(?:\/|$)/;

export const files: readonly Rule[] = [
  { programs: 'rm grm srm trash-rm', arg: '--no-preserve-root', high: 'Switches off the protection of the whole file system.' },
  { programs: 'rm grm srm trash-rm', judge: judgeRm },
  { programs: 'unlink rmdir', judge: judgeRm },
  { programs: 'shred wipe', judge: judgeShred },
  { programs: 'fallocate', judge: ({ args }, scope) => judgeSize(optionValue(args, '-l', '--length'), scope) },
  { programs: 'truncate', judge: judgeTruncate },
  { programs: 'mv gmv', judge: judgeMove },
  { programs: 'mv gmv', test: ({ args }) => args.at(-1) === '/dev/null', high: 'Moves files to where they are lost.' },
  { programs: 'cp gcp install ln', judge: judgeCopy },
  { programs: 'install', value: { '-m --mode': /^[2467]\d{3}$/ }, high: forOwner },
  {
    programs: 'ln',
    test: ({ args }, scope) =>
      operands(args)
        .slice(0, -1)
        .some((path) => scope.place(path) === '/'),
    medium: 'Links to the whole file system.',
  },
  { programs: 'rename prename mmv', judge: judgeRename },
  { programs: 'awk gawk', value: { '-i --include': 'inplace' }, judge: writes('Changes', 2) },
  { programs: 'gcc cc g++ c++ clang clang++ tcc rustc go nim ghc', judge: judgeSources },
  { programs: 'cmp split csplit', low: true },
  { programs: 'patch ed ex', judge: writes('Changes') },
  { programs: 'sponge tee', judge: judgeTee },
  {
    programs: 'mknod',
    test: ({ args }) => {
      const [, kind = '', major = ''] = operands(args);
      return /^[bc]$/.test(kind) && !/^(?:1|5)$/.test(major);
    },
    high: 'Makes a way to a device.',
  },
  { programs: 'touch', option: '-t -d -a --date --time', place: /^\/(?:bin|sbin|usr|lib|etc|var\/log|tmp\/\.)/, high: 'Hides when a file was changed.' },
  { programs: 'touch', value: { '-r --reference': systemFile }, high: 'Hides when a file was made behind the time of a file of the system.' },
  { programs: 'touch mkdir mkfifo mknod', judge: judgeMade },
  { programs: 'sed gsed', runsCode: true, judge: judgeSedScript },
  {
    programs: 'sed gsed',
    arg: /^-[a-zA-Z]*i|^--in-place/,
    judge: (invocation, scope) => writes('Changes', invocation.args.includes('-e') ? 0 : 1)(invocation, scope),
  },
  { programs: 'perl', arg: /^-[a-zA-Z]*i|^--in-place/, judge: writes('Changes') },
  { programs: 'dd', judge: judgeDd },
  { programs: 'find', judge: judgeFind },
  { programs: 'find', value: { '-perm': /^[-/]?(?:[u]\+?=?s|[0-7]*[4-7]000|\+?4000|6000|2000)/ }, medium: 'Searches for programs that run with other rights.' },
  { programs: 'rsync', judge: judgeRsync },
  {
    programs: 'zip 7z 7za rar',
    test: ({ program, args }) => (!program.startsWith('7z') && has(args, 'm', 'move')) || args.some((arg) => /^-(?:sdel|df|dr)$/.test(arg)),
    judge: ({ args }, scope) => {
      const [, ...packed] = operands(args).filter((word) => !/^[a-z]$/.test(word));
      for (const path of packed) remove(path, true, scope);
    },
  },
  { programs: 'openssl gpg gpg2 age ccrypt mcrypt', test: encryptsEach, high: 'Encrypts the files of a directory one by one.' },
  { programs: 'tar bsdtar unzip cpio 7z', judge: judgeUnpack },
  { programs: 'tar bsdtar unzip cpio 7z', arg: '--remove-files', removes: 'but-first' },
];

function writes(verb: string, from = 0) {
  return ({ args }: Invocation, scope: Scope): void => {
    for (const path of operands(args).slice(from)) write(path, scope, verb);
  };
}

function judgeRm({ program, args, substituted }: Invocation, scope: Scope): void {
  const recursive = has(args, 'rR', 'recursive') && program !== 'rmdir' && program !== 'unlink';
  for (const path of operands(args)) remove(path, recursive, scope, substituted);
}

function judgeShred({ args }: Invocation, scope: Scope): void {
  for (const path of operands(args)) {
    const place = scope.place(path);
    const own = /^(?:\.\/|\/tmp\/)/.test(place);
    scope.findings.add(own ? 'medium' : 'high', `Destroys a file beyond recovery: ${show(place)}`);
  }
}

function judgeTruncate({ args }: Invocation, scope: Scope): void {
  const size = optionValue(args, '-s', '--size');
  judgeSize(size, scope);
  for (const path of operands(args)) if (path !== size) write(path, scope, 'Empties');
}

/** Where `mv` and `cp` put their files. */
function targetOf(args: readonly string[]): string {
  return optionValue(args, '-t', '--target-directory') ?? operands(args).at(-1) ?? '';
}

function judgeMove({ args }: Invocation, scope: Scope): void {
  const target = targetOf(args);
  for (const path of operands(args).slice(0, -1)) {
    remove(path, true, scope);
    follow(path, target, scope);
  }
  write(target, scope, 'Writes');
}

function judgeCopy({ args }: Invocation, scope: Scope): void {
  const paths = operands(args);
  const target = targetOf(args);
  for (const path of paths.slice(0, -1)) {
    follow(path, target, scope);
    const name = path.split('/').at(-1) ?? '';
    if (/^\/(?:usr\/)?s?bin\//.test(path)) scope.renamed.set(scope.place(target), name);
    if (worldWritable.test(scope.place(path)) && programPlaces.test(scope.place(target)))
      scope.high(`Puts a program from a shared directory where commands are looked for: ${show(target)}`);
    if (endless.test(path) && target !== '/dev/null') writeEndless(target, scope);
    if (/^(?:b?a?sh|dash|zsh)$/.test(name) && /^\/(?:usr\/)?bin\//.test(path) && scope.elevated) scope.high('Makes a copy of a shell with the rights of root.');
  }
  if (paths.length > 1) write(target, scope, 'Writes');
}

function judgeRename({ args }: Invocation, scope: Scope): void {
  for (const path of operands(args).slice(1)) if (judgeRemoval(scope.place(path), true)?.risk === 'high') remove(path, true, scope);
}

/** Judges the sources of a compiler that earlier commands wrote. */
function judgeSources({ program, args }: Invocation, scope: Scope): void {
  for (const path of operands(args)) {
    const text = scope.written.get(scope.place(path));
    if (text !== undefined) judgeCode(text, scope, program === 'go' ? 'go' : 'C');
  }
}

function judgeTee({ program, args, input }: Invocation, scope: Scope): void {
  const paths = operands(args);
  for (const path of paths) write(path, scope, 'Writes', input.text);
  if (program === 'tee') noteDownload(paths, input.from, scope);
}

function judgeMade({ args }: Invocation, scope: Scope): void {
  for (const path of operands(args)) {
    const made = judgeWrite(scope.place(path));
    // An empty file or directory does nothing yet; making the usual ones of a home is common.
    if (made?.risk === 'high' && !/\/\.(?:ssh|aws|kube|gnupg|docker)\/?$/.test(path)) scope.medium(made.reason);
  }
}

function judgeSedScript({ args }: Invocation, scope: Scope): void {
  const started = /(?:^|[;\n{}\d$/])[ \t]*e\s+(.+)$/m.exec(operands(args)[0] ?? '')?.[1];
  if (started !== undefined) scope.read(started);
}

function judgeDd({ args, input }: Invocation, scope: Scope): void {
  const target = args.find((arg) => arg.startsWith('of='))?.slice(3);
  const source = args.find((arg) => arg.startsWith('if='))?.slice(3);
  if (source !== undefined) {
    const found = judgeRead(scope.place(source));
    if (found !== undefined) scope.findings.add(found.risk, `Reads ${found.what}: ${source}`);
    if (/^\/dev\/(?:sd|hd|vd|nvme|xvd|mmcblk|mem|kmem|mapper|dm-|disk)/.test(source)) scope.high(`Reads a whole device: ${source}`);
  }
  if (target === undefined) return;
  const counted = args.some((arg) => arg.startsWith('count='));
  if (endless.test(source ?? '') && !counted && !target.startsWith('/dev/null')) writeEndless(target, scope);
  write(target, scope, 'Writes');
  noteDownload([target], input.from, scope);
}

const findFilters = /^-(?:i?name|i?regex|i?path|i?wholename|mtime|mmin|size|empty|newer|ctime|atime|links|user|perm)/;
const keyNames =
  /id_(?:rsa|dsa|ed25519|ecdsa)|\.kdbx|wallet\.dat|shadow|\.git-credentials|\.netrc|\.aws$|\.ssh$|\.pgpass|\.npmrc|\.kube|credentials|\.p12$|\.pfx$|\.jks$|\.keytab|\.ovpn|password|secret|_history$|\.env$|\.gnupg|^id_/;

function judgeFind({ args }: Invocation, scope: Scope): void {
  const end = args.findIndex((arg) => arg.startsWith('-') && !/^-[HLPOD]/.test(arg));
  const bases = args.slice(0, Math.max(0, end)).filter((arg) => !arg.startsWith('-'));
  const filtered = args.some((arg) => findFilters.test(arg));
  for (const base of bases.length === 0 ? ['.'] : bases) {
    const place = scope.place(base);
    if (args.includes('-delete')) {
      const found = judgeRemoval(place, true);
      if (found !== undefined && !(filtered && /^\.|^\/tmp|^\/var\/tmp/.test(place))) scope.findings.add(found.risk, found.reason);
    } else if (/^[/~]/.test(place) && args.some((arg) => keyNames.test(arg))) {
      scope.high(keySearch);
      continue;
    }
    if (/^[/~]$/.test(place) && args.some((arg) => /\.(?:pem|key|p12|pfx|env)\b|password|secret|credential/i.test(arg)))
      scope.findings.add(takesWhatIsFound(args) ? 'high' : 'medium', keySearch);
  }
  for (const [index, arg] of args.entries()) if (/^-f(?:print0?|ls)$/.test(arg)) write(args[index + 1] ?? '', scope, 'Writes');
}

function takesWhatIsFound(args: readonly string[]): boolean {
  return args.some((arg, index) => /^-exec/.test(arg) && /^(?:cat|cp|curl|tar|base64|rsync|scp|sh|bash)$/.test(args[index + 1] ?? ''));
}

function judgeRsync({ args }: Invocation, scope: Scope): void {
  const paths = operands(args);
  const target = paths.at(-1) ?? '';
  if (/^[^/]*:/.test(target)) return;
  if (args.some((arg) => arg.startsWith('--delete'))) {
    const found = judgeRemoval(scope.place(target), true);
    if (found !== undefined && scope.place(target) !== '.') scope.findings.add(found.risk, found.reason);
  }
  if (args.includes('--remove-source-files')) for (const path of paths.slice(0, -1)) remove(path, true, scope);
  write(target, scope, 'Writes');
}

/** Encrypting files in place, one by one, is what ransomware does. */
function encryptsEach({ args, input }: Invocation, scope: Scope): boolean {
  return (
    /\benc\b|\s-(?:c|e|r)\b|--symmetric|--encrypt/.test(` ${args.join(' ')}`) &&
    !args.includes('-d') &&
    !args.includes('--decrypt') &&
    [...args, input.file ?? ''].some((arg) => /\0/.test(arg) && /^(?:~|\/(?:home|root|var|srv|etc|mnt|data)\b)/.test(scope.place(arg.replace(/^-\w+=/, ''))))
  );
}

function judgeUnpack({ program, args }: Invocation, scope: Scope): void {
  const directory = optionValue(args, '-C', '--directory') ?? (program === 'unzip' ? optionValue(args, '-d') : undefined);
  const extracts = program === 'unzip' || /x/.test(args[0] ?? '') || args.includes('--extract');
  if (directory === undefined || !extracts) return;
  if (scope.place(directory) === '/') scope.high('Unpacks an archive over the whole file system.');
  else write(directory, scope, 'Unpacks');
}
