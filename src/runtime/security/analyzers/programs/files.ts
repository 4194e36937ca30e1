/** Programs that remove, overwrite, move or open up files. */

import { judgeCode } from '../code/judge.js';
import { judgeRemoval, judgeWrite, show } from '../paths/changes.js';
import { unknownText } from '../paths/place.js';
import { judgeRead } from '../paths/sensitive.js';
import type { Invocation } from '../shell/invocation.js';
import { outputOf } from '../shell/output.js';
import type { Scope } from '../shell/scope.js';
import { isDecoder, isFetcher } from '../shell/sources.js';
import { type Checks, each, has, operands, optionValue } from './check.js';

export const files: Checks = {
  ...each('rm grm srm trash-rm', ({ args, substituted }, scope) => {
    const recursive = has(args, 'rR', 'recursive');
    if (args.includes('--no-preserve-root'))
      scope.high('Switches off the protection of the whole file system.');
    for (const path of operands(args)) remove(path, recursive, scope, substituted);
  }),
  ...each('unlink rmdir', ({ args }, scope) => {
    for (const path of operands(args)) remove(path, false, scope);
  }),
  ...each('shred wipe', ({ args }, scope) => {
    for (const path of operands(args)) {
      const place = scope.place(path);
      if (/^(?:\.\/|\/tmp\/)/.test(place)) scope.medium(`Destroys a file beyond recovery: ${show(place)}`);
      else scope.high(`Destroys a file beyond recovery: ${show(place)}`);
    }
  }),
  fallocate: ({ args }, scope) => judgeSize(optionValue(args, '-l', '--length'), scope),
  truncate: ({ args }, scope) => {
    const size = optionValue(args, '-s', '--size');
    judgeSize(size, scope);
    for (const path of operands(args)) {
      if (path === size) continue;
      write(path, scope, 'Empties');
    }
  },
  ...each('mv gmv', ({ args }, scope) => {
    const paths = operands(args);
    const target = optionValue(args, '-t', '--target-directory') ?? paths.at(-1) ?? '';
    for (const path of paths.slice(0, -1)) {
      remove(path, true, scope);
      follow(path, target, scope);
    }
    if (target === '/dev/null') scope.high('Moves files to where they are lost.');
    write(target, scope, 'Writes');
  }),
  ...each('cp gcp install ln', ({ program, args }, scope) => {
    const paths = operands(args);
    const target = optionValue(args, '-t', '--target-directory') ?? paths.at(-1) ?? '';
    for (const path of paths.slice(0, -1)) {
      follow(path, target, scope);
      const name = path.split('/').at(-1) ?? '';
      if (/^\/(?:usr\/)?s?bin\//.test(path)) scope.renamed.set(scope.place(target), name);
      if (worldWritable.test(scope.place(path)) && programPlaces.test(scope.place(target)))
        scope.high(`Puts a program from a shared directory where commands are looked for: ${show(target)}`);
      if (endless.test(path) && target !== '/dev/null') writeEndless(target, scope);
      if (program === 'ln' && scope.place(path) === '/') scope.medium('Links to the whole file system.');
      if (/^(?:b?a?sh|dash|zsh)$/.test(name) && /^\/(?:usr\/)?bin\//.test(path) && scope.elevated)
        scope.high('Makes a copy of a shell with the rights of root.');
    }
    const mode = optionValue(args, '-m', '--mode');
    if (program === 'install' && mode !== undefined && /^[2467]\d{3}$/.test(mode))
      scope.high('Makes a program that runs with the rights of its owner.');
    if (paths.length > 1) write(target, scope, 'Writes');
  }),
  ...each('rename prename mmv', ({ args }, scope) => {
    for (const path of operands(args).slice(1))
      if (judgeRemoval(scope.place(path), true)?.risk === 'high') remove(path, true, scope);
  }),
  ...each('awk gawk', ({ args }, scope) => {
    if (!args.some((arg, index) => arg === 'inplace' && /^-i$|^--include$/.test(args[index - 1] ?? '')))
      return;
    for (const path of operands(args).slice(2)) write(path, scope, 'Changes');
  }),
  ...each('gcc cc g++ c++ clang clang++ tcc rustc go nim ghc', ({ program, args }, scope) => {
    for (const path of operands(args)) {
      const text = scope.written.get(scope.place(path));
      if (text !== undefined) judgeCode(text, scope, program === 'go' ? 'go' : 'C');
    }
  }),
  ...each('cmp split csplit patch ed ex', ({ program, args }, scope) => {
    if (program === 'patch' || program === 'ed' || program === 'ex')
      for (const path of operands(args)) write(path, scope, 'Changes');
  }),
  ...each('sponge', ({ args, input }, scope) => {
    for (const path of operands(args)) write(path, scope, 'Writes', input.text);
  }),
  ...each('touch mkdir mkfifo mknod', ({ program, args }, scope) => {
    if (
      program === 'mknod' &&
      /^[bc]$/.test(operands(args)[1] ?? '') &&
      !/^(?:1|5)$/.test(operands(args)[2] ?? '')
    )
      scope.high('Makes a way to a device.');
    if (
      program === 'touch' &&
      has(args, 'tda', 'date', 'time') &&
      operands(args).some((path) => /^\/(?:bin|sbin|usr|lib|etc|var\/log|tmp\/\.)/.test(scope.place(path)))
    )
      scope.high('Hides when a file was changed.');
    const model = program === 'touch' ? optionValue(args, '-r', '--reference') : undefined;
    if (model !== undefined && /^\/(?:bin|sbin|usr|lib|etc)/.test(model))
      scope.high('Hides when a file was made behind the time of a file of the system.');
    for (const path of operands(args)) {
      const made = judgeWrite(scope.place(path));
      // An empty file or directory does nothing yet; making the usual ones of a home is common.
      if (made?.risk === 'high' && !/\/\.(?:ssh|aws|kube|gnupg|docker)\/?$/.test(path))
        scope.medium(made.reason);
    }
  }),
  tee: ({ args, input }, scope) => {
    for (const path of operands(args)) write(path, scope, 'Writes', input.text);
    noteDownload(operands(args), input.from, scope);
  },
  ...each('sed gsed perl', ({ program, args }, scope) => {
    if (program !== 'perl') {
      const script = operands(args)[0] ?? '';
      const started = /(?:^|[;\n{}\d$/])\s*e\s+(.+)$/m.exec(script)?.[1];
      if (started !== undefined) scope.read(started);
    }
    if (!args.some((arg) => /^-[a-zA-Z]*i|^--in-place/.test(arg))) return;
    const paths = operands(args);
    for (const path of program === 'perl' ? paths : paths.slice(args.some((arg) => arg === '-e') ? 0 : 1))
      write(path, scope, 'Changes');
  }),
  dd: ({ args, input }, scope) => {
    const target = args.find((arg) => arg.startsWith('of='))?.slice(3);
    const source = args.find((arg) => arg.startsWith('if='))?.slice(3);
    if (source !== undefined) {
      const found = judgeRead(scope.place(source));
      if (found !== undefined) scope.findings.add(found.risk, `Reads ${found.what}: ${source}`);
      if (/^\/dev\/(?:sd|hd|vd|nvme|xvd|mmcblk|mem|kmem|mapper|dm-|disk)/.test(source))
        scope.high(`Reads a whole device: ${source}`);
      if (
        endless.test(source) &&
        target !== undefined &&
        !args.some((arg) => arg.startsWith('count=')) &&
        !target.startsWith('/dev/null')
      )
        writeEndless(target, scope);
    }
    if (target !== undefined) write(target, scope, 'Writes');
    if (target !== undefined) noteDownload([target], input.from, scope);
  },
  find: ({ args }, scope) => {
    const bases = args
      .slice(
        0,
        Math.max(
          0,
          args.findIndex((arg) => arg.startsWith('-') && !/^-[HLPOD]/.test(arg)),
        ),
      )
      .filter((arg) => !arg.startsWith('-'));
    const deletes = args.includes('-delete');
    const filtered = args.some((arg) =>
      /^-(?:i?name|i?regex|i?path|i?wholename|mtime|mmin|size|empty|newer|ctime|atime|links|user|perm)/.test(
        arg,
      ),
    );
    for (const base of bases.length === 0 ? ['.'] : bases) {
      const place = scope.place(base);
      if (deletes) {
        const found = judgeRemoval(place, true);
        if (found !== undefined && !(filtered && /^\.|^\/tmp|^\/var\/tmp/.test(place)))
          scope.findings.add(found.risk, found.reason);
      }
      if (
        !deletes &&
        /^(?:\/|~)/.test(place) &&
        args.some((arg) =>
          /id_(?:rsa|dsa|ed25519|ecdsa)|\.kdbx|wallet\.dat|shadow|\.git-credentials|\.netrc|\.aws$|\.ssh$|\.pgpass|\.npmrc|\.kube|credentials|\.p12$|\.pfx$|\.jks$|\.keytab|\.ovpn|password|secret|_history$|\.env$|\.gnupg|^id_/.test(
            arg,
          ),
        )
      )
        scope.high('Searches the machine for keys and passwords.');
      else if (
        /^(?:\/|~)$/.test(place) &&
        args.some((arg) => /\.(?:pem|key|p12|pfx|env)\b|password|secret|credential/i.test(arg))
      )
        scope.findings.add(
          args.some(
            (arg, index) =>
              /^-exec/.test(arg) &&
              /^(?:cat|cp|curl|tar|base64|rsync|scp|sh|bash)$/.test(args[index + 1] ?? ''),
          )
            ? 'high'
            : 'medium',
          'Searches the machine for keys and passwords.',
        );
    }
    if (
      args.some(
        (arg, index) =>
          arg === '-perm' &&
          /^[-/]?(?:[u]\+?=?s|[0-7]*[4-7]000|\+?4000|6000|2000)/.test(args[index + 1] ?? ''),
      )
    )
      scope.medium('Searches for programs that run with other rights.');
    for (const [index, arg] of args.entries())
      if (/^-f(?:print0?|ls)$/.test(arg)) write(args[index + 1] ?? '', scope, 'Writes');
  },
  rsync: ({ args }, scope) => {
    const paths = operands(args);
    const target = paths.at(-1) ?? '';
    if (/^[^/]*:/.test(target)) return;
    if (args.some((arg) => arg.startsWith('--delete'))) {
      const found = judgeRemoval(scope.place(target), true);
      if (found !== undefined && scope.place(target) !== '.') scope.findings.add(found.risk, found.reason);
    }
    if (args.includes('--remove-source-files'))
      for (const path of paths.slice(0, -1)) remove(path, true, scope);
    write(target, scope, 'Writes');
  },
  ...each('zip 7z 7za rar', ({ args }, scope) => {
    const moves = has(args, 'm', 'move') || args.some((arg) => /^-(?:sdel|df|dr)$/.test(arg));
    const [, ...packed] = operands(args).filter((word) => !/^[a-z]$/.test(word));
    if (moves) for (const path of packed) remove(path, true, scope);
  }),
  ...each('openssl gpg gpg2 age ccrypt mcrypt', ({ args, input }, scope) => {
    // What is encrypted where it lies, file by file, is held for ransom.
    const encrypts =
      /\benc\b|\s-(?:c|e|r)\b|--symmetric|--encrypt/.test(` ${args.join(' ')}`) &&
      !args.includes('-d') &&
      !args.includes('--decrypt');
    const found = [...args, input.file ?? ''].some(
      (arg) =>
        /\0/.test(arg) &&
        /^(?:~|\/(?:home|root|var|srv|etc|mnt|data)\b)/.test(scope.place(arg.replace(/^-\w+=/, ''))),
    );
    if (encrypts && found) scope.high('Encrypts the files of a directory one by one.');
  }),
  ...each('tar bsdtar unzip cpio 7z', ({ program, args }, scope) => {
    const directory =
      optionValue(args, '-C', '--directory') ?? (program === 'unzip' ? optionValue(args, '-d') : undefined);
    const extracts = program === 'unzip' || /x/.test(args[0] ?? '') || args.includes('--extract');
    if (directory !== undefined && extracts) {
      const place = scope.place(directory);
      if (place === '/') scope.high('Unpacks an archive over the whole file system.');
      else write(directory, scope, 'Unpacks');
    }
    if (args.includes('--remove-files'))
      for (const path of operands(args).slice(1)) remove(path, true, scope);
  }),
};

/** Devices that can be read for ever. */
const endless = /^\/dev\/(?:zero|u?random|full)$/;
const worldWritable = /^\/(?:tmp|var\/tmp|dev\/shm)\//;
const programPlaces =
  /^(?:\/usr(?:\/local)?\/s?bin|\/s?bin|\/opt\/[^/]+\/bin|~\/\.local\/bin|~\/bin|(?:.*\/)?\.git\/hooks)(?:\/|$)/;

/** How much is taken of what never ends. */
function judgeEndless(program: string, args: readonly string[], target: string, scope: Scope): void {
  if (program === 'head') judgeSize(optionValue(args, '-c', '--bytes'), scope);
  else writeEndless(target, scope);
}

/** A file as large as a disk takes the space from everything else. */
function judgeSize(size: string | undefined, scope: Scope): void {
  const [, digits = '', unit = ''] = /^\+?(\d+)\s*([kmgtpe]?)/i.exec(size ?? '') ?? [];
  const bytes = Number(digits) * 1024 ** ' kmgtpe'.indexOf(unit === '' ? ' ' : unit.toLowerCase());
  if (bytes >= 50 * 1024 ** 3) scope.high(`Takes ${size} of the disk.`);
  else if (bytes >= 10 * 1024 ** 3) scope.medium(`Takes ${size} of the disk.`);
}

/** What was there is lost, and the disk fills up. */
function writeEndless(target: string, scope: Scope): void {
  const reason = 'Writes without an end until the disk is full.';
  if (/^[~/]/.test(scope.place(target)) && !worldWritable.test(scope.place(target))) scope.high(reason);
  else scope.medium(reason);
}

/** Files behind `>`, `>>` and `<`. */
export function judgeRedirects({ redirects, input, program, args }: Invocation, scope: Scope): void {
  const printed =
    program === 'echo' || program === 'printf'
      ? (outputOf({ program, args, input } as Invocation) ?? args.join(' '))
      : program === ':'
        ? input.text
        : outputOf({ program, args, input } as Invocation);
  for (const { mode, target } of redirects) {
    if (mode === 'read') {
      const found = judgeRead(scope.place(target));
      if (found !== undefined) scope.findings.add(found.risk, `Reads ${found.what}: ${show(target)}`);
    }
    if (/^\/dev\/(?:tcp|udp)\//.test(target))
      scope.high(`Opens a network connection from the shell: ${show(target)}`);
    else if (mode !== 'read') write(target, scope, 'Writes', printed, mode === 'append');
    if (
      mode !== 'read' &&
      (isFetcher(program) ||
        (isDecoder({ program, args }) && args.some((arg) => /^-\w*[dDr]|^--decode/.test(arg))))
    )
      scope.downloaded.add(scope.place(target));
    if (mode !== 'read' && target !== '/dev/null' && args.some((arg) => endless.test(arg)))
      judgeEndless(program, args, target, scope);
    if (mode !== 'read') noteDownload([target], input.from, scope);
    if (mode !== 'read' && [{ program, args }, ...input.from].some((producer) => isTelling(producer, scope)))
      scope.tainted.add(scope.place(target));
  }
}

/** Programs that print what must not leave: variables, processes, credentials. */
function isTelling({ program, args }: Pick<Invocation, 'program' | 'args'>, scope: Scope): boolean {
  if (/^(?:env|printenv|set|export|declare|history|mysqldump|pg_dump|pg_dumpall|mongodump)$/.test(program))
    return !(program === 'printenv' && args.length > 0) && !args.some((arg) => /^[A-Z_]+=/.test(arg));
  return program === 'cat' && args.some((arg) => judgeRead(scope.place(arg)) !== undefined);
}

/** Text that goes into a start file and only sets what start files are there to set. */
const plainSettings =
  /^\s*(?:#.*|export\s+[A-Z_][A-Z0-9_]*=.*|alias\s+[\w.-]+=.*|source\s+(?:\S+|<\([\w .-]+\))|\.\s+(?:\S+|<\([\w .-]+\))|eval "?\$\([a-z][\w -]*\)"?|PATH=.*|\[ -[a-z] .*|set -o vi|bindkey .*|autoload .*)?\s*$/;
const riskyAlias = /alias\s+(?:sudo|su|ssh|passwd|ls|cd|git)=['"]?(?:\/tmp|[^'"]*[;&|])/;
const riskyExport =
  /\b(?:LD_PRELOAD|PROMPT_COMMAND|BASH_ENV|LD_LIBRARY_PATH|GIT_SSH_COMMAND)=|PATH=['"]?(?:\/tmp|\.:|\/dev\/shm)/;

/** Judges a write by its place and, for files that are run later, by the text where it is known. */
export function write(path: string, scope: Scope, verb: string, text?: string, append = false): void {
  const place = scope.place(path);
  if (text !== undefined) scope.written.set(place, append ? (scope.written.get(place) ?? '') + text : text);
  const found = judgeWrite(place);
  if (found === undefined) return;
  const reason = found.reason.replace(/^Writes/, verb);
  const startFile = found.reason.includes('run at start') && append;
  const hosts = place === '/etc/hosts';
  if (startFile && text !== undefined && !text.includes(unknownText)) {
    const plain =
      text.split('\n').every((line) => plainSettings.test(line)) &&
      !riskyAlias.test(text) &&
      !riskyExport.test(text);
    if (!plain) scope.high(reason);
    else scope.medium(reason);
    scope.read(text);
    return;
  }
  // What git will run is judged as if it ran now.
  if (/\.git\/hooks\//.test(place) && text !== undefined && !text.includes(unknownText)) scope.read(text);
  if (place.startsWith('/etc/') && verb === 'Empties') scope.high(reason);
  else if (
    found.risk === 'medium' &&
    !append &&
    !hosts &&
    /^\/etc\/(?:hosts|resolv\.conf|hostname|nsswitch\.conf|localtime|os-release)/.test(place)
  )
    scope.high(reason);
  else scope.findings.add(hosts ? (append ? 'medium' : 'high') : found.risk, reason);
}

function remove(
  path: string,
  recursive: boolean,
  scope: Scope,
  substituted: readonly Invocation[] = [],
): void {
  const found = judgeRemoval(scope.place(path), recursive);
  if (found === undefined) return;
  // What was listed at a place where much would be lost is what is removed.
  if (path.startsWith(unknownText) && substituted.some((producer) => listsValuable(producer, scope)))
    scope.high('Removes what was listed in a directory of the system or a home.');
  // A list that a program made of names in the working directory is no unknown place.
  if (
    path.startsWith(unknownText) &&
    substituted.some(({ program }) => program === 'docker' || program === 'git')
  )
    return;
  scope.findings.add(found.risk, found.reason);
}

function listsValuable({ program, args }: Invocation, scope: Scope): boolean {
  if (program !== 'ls' && program !== 'find') return false;
  return operands(args)
    .slice(0, 1)
    .some((path) => {
      const place = scope.place(path);
      return /^[/~]/.test(place) && judgeRemoval(place, true)?.risk === 'high';
    });
}

/** What is known of a file is known of its copy. */
function follow(path: string, target: string, scope: Scope): void {
  const text = scope.written.get(scope.place(path));
  if (text !== undefined) {
    scope.written.set(scope.place(target), text);
    scope.written.set(scope.place(`${target.replace(/\/$/, '')}/${path.split('/').at(-1)}`), text);
  }
  if (!scope.downloaded.has(scope.place(path))) return;
  scope.downloaded.add(scope.place(target));
  scope.downloaded.add(scope.place(`${target.replace(/\/$/, '')}/${path.split('/').at(-1)}`));
}

function noteDownload(paths: readonly string[], from: readonly Invocation[], scope: Scope): void {
  if (from.some(({ program }) => isFetcher(program) || program === 'base64'))
    for (const path of paths) if (!path.startsWith('/dev/')) scope.downloaded.add(scope.place(path));
}
