/** Judges what programs write, remove, copy and redirect, whatever program does it. */

import { judgeRemoval, judgeWrite, show } from '../paths/changes.js';
import { unknownText } from '../paths/place.js';
import { judgeRead } from '../paths/sensitive.js';
import type { Invocation } from '../shell/invocation.js';
import { outputOf } from '../shell/output.js';
import type { Scope } from '../shell/scope.js';
import { isDecoder, isFetcher } from '../shell/sources.js';
import { operands, optionValue } from './arguments.js';

/** Devices that never end. */
export const endless = /^\/dev\/(?:zero|u?random|full)$/;
export const worldWritable = /^\/(?:tmp|var\/tmp|dev\/shm)\//;

/** Judges how much a program takes from a device that never ends. */
function judgeEndless(program: string, args: readonly string[], target: string, scope: Scope): void {
  if (program === 'head') judgeSize(optionValue(args, '-c', '--bytes'), scope);
  else writeEndless(target, scope);
}

/** A file as large as a disk takes the space from everything else. */
export function judgeSize(size: string | undefined, scope: Scope): void {
  const [, digits = '', unit = ''] = /^\+?(\d+)\s*([kmgtpe]?)/i.exec(size ?? '') ?? [];
  const bytes = Number(digits) * 1024 ** ' kmgtpe'.indexOf(unit === '' ? ' ' : unit.toLowerCase());
  if (bytes >= 50 * 1024 ** 3) scope.high(`Takes ${size} of the disk.`);
  else if (bytes >= 10 * 1024 ** 3) scope.medium(`Takes ${size} of the disk.`);
}

/** It overwrites the old content, and fills the disk. */
export function writeEndless(target: string, scope: Scope): void {
  const reason = 'Writes without an end until the disk is full.';
  if (/^[~/]/.test(scope.place(target)) && !worldWritable.test(scope.place(target))) scope.high(reason);
  else scope.medium(reason);
}

/** Files behind `>`, `>>` and `<`. */
export function judgeRedirects({ redirects, input, program, args }: Invocation, scope: Scope): void {
  const printed =
    program === 'echo' || program === 'printf'
      ? (outputOf({ program, args, input }) ?? args.join(' '))
      : program === ':'
        ? input.text
        : outputOf({ program, args, input });
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

/** Text for a start file that only sets what start files usually set. */
const plainSettings =
  /^\s*(?:#.*|export\s+[A-Z_][A-Z0-9_]*=.*|alias\s+[\w.-]+=.*|source\s+(?:\S+|<\([\w .-]+\))|\.\s+(?:\S+|<\([\w .-]+\))|eval "?\$\([a-z][\w -]*\)"?|PATH=.*|\[ -[a-z] .*|set -o vi|bindkey .*|autoload .*)?\s*$/;
const riskyAlias = /alias\s+(?:sudo|su|ssh|passwd|ls|cd|git)=['"]?(?:\/tmp|[^'"]*[;&|])/;
const riskyExport =
  /\b(?:LD_PRELOAD|PROMPT_COMMAND|BASH_ENV|LD_LIBRARY_PATH|GIT_SSH_COMMAND)=|PATH=['"]?(?:\/tmp|\.:|\/dev\/shm)/;

/** Judges a write by its place and, for files that run later, by the text where we know it. */
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
  // Judge what git will run as if it ran now.
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

export function remove(
  path: string,
  recursive: boolean,
  scope: Scope,
  substituted: readonly Invocation[] = [],
): void {
  const found = judgeRemoval(scope.place(path), recursive);
  if (found === undefined) return;
  // The command removes what a program listed in a place where much would be lost.
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

/** What we know of a file holds for its copy. */
export function follow(path: string, target: string, scope: Scope): void {
  const text = scope.written.get(scope.place(path));
  if (text !== undefined) {
    scope.written.set(scope.place(target), text);
    scope.written.set(scope.place(`${target.replace(/\/$/, '')}/${path.split('/').at(-1)}`), text);
  }
  if (!scope.downloaded.has(scope.place(path))) return;
  scope.downloaded.add(scope.place(target));
  scope.downloaded.add(scope.place(`${target.replace(/\/$/, '')}/${path.split('/').at(-1)}`));
}

export function noteDownload(paths: readonly string[], from: readonly Invocation[], scope: Scope): void {
  if (from.some(({ program }) => isFetcher(program) || program === 'base64'))
    for (const path of paths) if (!path.startsWith('/dev/')) scope.downloaded.add(scope.place(path));
}
