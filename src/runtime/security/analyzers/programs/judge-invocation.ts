/** Judges one use of one program: by the rules about it, and by those that hold for all programs. */
import { show } from '../paths/changes.js';
import type { Invocation } from '../shell/invocation.js';
import type { Scope } from '../shell/scope.js';
import { judgeAnyProgram } from './any.js';
import { judgeRedirects } from './file-effects.js';
import { judgeReads } from './reads.js';
import { judgeUpload } from './uploads.js';

const builders = /^(?:make|gmake|cmake|npm|pip3?|python3?|cargo|go|ninja|scons|meson)$/;

export function judgeInvocation(invocation: Invocation, scope: Scope): void {
  const { program, path, args, redirects } = invocation;
  if (redirects.length > 0) judgeRedirects(invocation, scope);
  if (path.includes('/') && scope.downloaded.size > 0 && scope.downloaded.has(scope.place(path)))
    scope.high(`Runs a program that was fetched from the network: ${show(path)}`);
  judgeCloned(invocation, scope);
  const { rules } = scope;
  const asksHelp = /^--(?:help|version)$/.test(args.at(-1) ?? '') && !rules.startsOthers(program);
  if (!asksHelp) rules.apply(invocation, scope);
  judgeAnyProgram(invocation, scope, rules.knows(program));
  judgeReads(invocation, scope);
  judgeUpload(invocation, scope);
}

/** A program from a repository that the command has just fetched. */
function judgeCloned({ program, path, args }: Invocation, scope: Scope): void {
  if (scope.cloned.size === 0) return;
  const risk = scope.elevated ? 'high' : 'medium';
  if (path.includes('/') && scope.isCloned(path))
    scope.findings.add(risk, `Runs a program of a repository that was fetched just now: ${show(path)}`);
  const there = scope.isCloned('x') || args.some((arg) => scope.isCloned(`${arg}/x`));
  if (builders.test(program) && there)
    scope.findings.add(risk, 'Builds or installs a repository that was fetched just now.');
}
