/** Absolute paths as the kernel resolves them, for comparing with those in the rules of a policy. */
import { posix } from 'node:path';
import type { AnalyzeContext } from '../analyzer.js';

/** `cwd` is as `place` spells it: from the workspace with `.`, from a home with `~`. */
export function resolvePath(path: string, { workspace, home }: AnalyzeContext, cwd = '.'): string {
  const from = base(cwd, workspace, home);
  const absolute = posix.resolve('/', from ?? '', expand(path, home));
  const real = throughProcess(absolute, from ?? workspace ?? '/');
  if (from !== undefined || path.startsWith('/')) return real;
  // Nobody knows where it starts.
  return posix.normalize(path);
}

function base(cwd: string, workspace: string | undefined, home: string | undefined): string | undefined {
  if (cwd.startsWith('/')) return cwd;
  if (cwd.startsWith('~')) return home === undefined ? cwd : posix.join(home, cwd.slice(1));
  return workspace === undefined ? undefined : posix.resolve(workspace, cwd);
}

function expand(path: string, home: string | undefined): string {
  return home !== undefined && /^~(?:\/|$)/.test(path) ? posix.join(home, path.slice(1)) : path;
}

/** `/proc/self/root/etc` is `/etc`, and `/proc/self/cwd/x` is `x`. */
function throughProcess(path: string, cwd: string): string {
  let current = path;
  // A directory that is named through itself has no end.
  for (let round = 0; round < 8; round++) {
    const [, kind, rest = ''] =
      /^\/proc\/(?:self|thread-self|\d+)\/(?:task\/\d+\/)?(root|cwd)(\/.*)?$/.exec(current) ?? [];
    if (kind === undefined) return current;
    const next = posix.normalize(kind === 'root' ? rest || '/' : posix.join(cwd, rest));
    current = next;
  }
  return current;
}
