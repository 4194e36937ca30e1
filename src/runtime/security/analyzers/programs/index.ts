/** Every check there is, and those that hold for all programs. */
import { show } from '../paths/changes.js';
import type { Invocation } from '../shell/invocation.js';
import type { Scope } from '../shell/scope.js';
import { startsOthers } from '../shell/wrappers.js';
import { judgeAnyProgram } from './any.js';
import type { Check, Checks } from './check.js';
import { databases } from './databases.js';
import { disk } from './disk.js';
import { files, judgeRedirects } from './files.js';
import { infrastructure } from './infrastructure.js';
import { judgeUpload, network } from './network.js';
import { packageSources } from './package-sources.js';
import { packages } from './packages.js';
import { persistence } from './persistence.js';
import { privilege } from './privilege.js';
import { judgeReads } from './reads.js';
import { rights } from './rights.js';
import { judgeSecretOptions, secretStores } from './secret-stores.js';
import { system } from './system.js';
import { variables } from './variables.js';
import { versionControl } from './version-control.js';
import { windows } from './windows.js';

const table = new Map<string, Check[]>();
for (const checks of [
  files,
  rights,
  disk,
  network,
  persistence,
  privilege,
  packages,
  packageSources,
  system,
  variables,
  versionControl,
  infrastructure,
  databases,
  windows,
  secretStores,
] satisfies Checks[]) {
  for (const [name, check] of Object.entries(checks)) table.set(name, [...(table.get(name) ?? []), check]);
}

function worksInClone({ args }: Invocation, scope: Scope): boolean {
  return scope.isCloned('x') || args.some((arg) => scope.isCloned(`${arg}/x`));
}

export function judgeInvocation(invocation: Invocation, scope: Scope): void {
  const { program, path, redirects } = invocation;
  if (redirects.length > 0) judgeRedirects(invocation, scope);
  if (path.includes('/') && scope.downloaded.size > 0 && scope.downloaded.has(scope.place(path)))
    scope.high(`Runs a program that was fetched from the network: ${show(path)}`);
  if (path.includes('/') && scope.isCloned(path))
    scope.findings.add(
      scope.elevated ? 'high' : 'medium',
      `Runs a program of a repository that was fetched just now: ${show(path)}`,
    );
  if (
    scope.cloned.size > 0 &&
    /^(?:make|gmake|cmake|npm|pip3?|python3?|cargo|go|ninja|scons|meson)$/.test(program) &&
    worksInClone(invocation, scope)
  )
    scope.findings.add(
      scope.elevated ? 'high' : 'medium',
      'Builds or installs a repository that was fetched just now.',
    );
  const family = program.startsWith('mkfs') ? 'mkfs' : program;
  const checks = table.get(family) ?? [];
  const asksHelp = /^--(?:help|version)$/.test(invocation.args.at(-1) ?? '') && !startsOthers(program);
  if (!asksHelp) for (const check of checks) check(invocation, scope);
  judgeAnyProgram(invocation, scope, checks.length > 0 || startsOthers(program));
  judgeSecretOptions(program, invocation.args, (reason) => scope.high(reason));
  judgeReads(invocation, scope);
  judgeUpload(invocation, scope);
}
