/** Absolute paths as the kernel resolves them, for comparing with those in the rules of a policy. */
import { posix } from 'node:path';
import type { AnalyzeContext } from '../analyzer.js';
import { processLink } from './process-links.js';

/** `cwd` is as `place` spells it: from the workspace with `.`, from a home with `~`. */
export function resolvePath(path: string, context: AnalyzeContext, cwd = '.'): string {
  const { workspace, home } = context;
  const from = base(cwd, workspace, home);
  const expanded = expand(path, home);
  // We do not know where it starts.
  if (from === undefined && !expanded.startsWith('/')) return posix.normalize(expanded);
  const whole = expanded.startsWith('/') ? expanded : `${from}/${expanded}`;
  const link = processLink(whole);
  if (link === undefined) return posix.resolve('/', whole);
  if (link.kind === 'root') return resolvePath(`/${link.rest}`, context, cwd);
  // A directory that refers to itself has no end.
  const inner = from === undefined || processLink(from) !== undefined ? (workspace ?? '/') : from;
  return resolvePath(`${inner}/${link.rest}`, context, cwd);
}

function base(cwd: string, workspace: string | undefined, home: string | undefined): string | undefined {
  if (cwd.startsWith('/')) return cwd;
  if (cwd.startsWith('~')) return home === undefined ? cwd : posix.join(home, cwd.slice(1));
  return workspace === undefined ? undefined : posix.resolve(workspace, cwd);
}

function expand(path: string, home: string | undefined): string {
  return home !== undefined && /^~(?:\/|$)/.test(path) ? posix.join(home, path.slice(1)) : path;
}
