/** Judges what actions carry besides commands and code: paths, contents, addresses, typed text. */
import { judgeCode } from '../code/judge.js';
import { judgeRemoval, judgeWrite, show } from '../paths/changes.js';
import { judgeRead } from '../paths/sensitive.js';
import { write } from '../programs/file-effects.js';
import type { Scope } from '../shell/scope.js';
import { judgeAddress } from './addresses.js';
import { afterErasing, escapedCommands } from './keys.js';

/** Where findings go, and the paths that we meet. */
export interface Carrier {
  readonly scope: Scope;
  readonly paths: string[];
}

export function judgePathRead(path: string, { scope, paths }: Carrier): void {
  paths.push(path);
  const found = judgeRead(scope.place(path));
  if (found !== undefined) scope.findings.add(found.risk, `Reads ${found.what}: ${show(path)}`);
}

export function judgePathWrite(path: string, { scope, paths }: Carrier): void {
  paths.push(path);
  report(judgeWrite(scope.place(path)), scope);
}

export function judgePathRemoval(path: string, recursive: boolean, { scope, paths }: Carrier): void {
  paths.push(path);
  report(judgeRemoval(scope.place(path), recursive), scope);
}

/** The content of a file counts where other programs read it, such as the keys that may log in. */
export function noteContent(
  path: string,
  { text, append, part }: { text: string; append: boolean; part?: boolean | undefined },
  { scope, paths }: Carrier,
): void {
  paths.push(path);
  const place = scope.place(path);
  const before = scope.written.get(place);
  write(path, scope, 'Writes', text, append);
  // The earlier content of the file may still be there.
  if (part === true && before !== undefined) scope.written.set(place, `${before}\n${text}`);
}

/** Text that is neither a URL nor a host is a path of the cell. */
export function judgeAddressField(address: string, carrier: Carrier): void {
  const { scope } = carrier;
  scope.addresses.push(address);
  report(judgeAddress(address), scope);
  if (!/^[a-z][a-z0-9+.-]*:/i.test(address) && /^[~/.]/.test(address)) judgePathRead(address, carrier);
}

/** Names of keys for a terminal. */
const key = /^(?:C-.|[A-Z][a-z]+|\s*)$/;

/** Bytes for a program that can be a shell, an interpreter or neither: findings count, unreadable parts do not. */
export function judgeTyped(text: string, scope: Scope): void {
  if (key.test(text)) return;
  scope.findings.leniently(() => {
    for (const typed of new Set([text, afterErasing(text)])) {
      scope.read(typed);
      judgeCode(typed, scope, 'a process');
      for (const command of escapedCommands(typed)) scope.read(command);
    }
  });
}

function report(found: { risk: 'high' | 'medium'; reason: string } | undefined, scope: Scope): void {
  if (found !== undefined) scope.findings.add(found.risk, found.reason);
}
