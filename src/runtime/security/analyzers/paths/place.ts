/**
 * Gives a path one spelling, however the author wrote it: `/etc/x`, `~/x` for anybody's home, `./x` for the
 * workspace, `../x` for a place above it. The character `\0` stands for a part that we know only when the command
 * runs.
 */

import { processLink } from './process-links.js';

export const unknownText = '\0';

export interface Where {
  /** The working directory, itself in that spelling. */
  readonly cwd: string;
  readonly workspace?: string | undefined;
  readonly home?: string | undefined;
}

export function place(path: string, where: Where): string {
  if (path.startsWith(unknownText)) return path[1] === '/' ? unknownText + normalize(path.slice(1)) : path;
  if (path.startsWith('~')) return tilde(path);
  if (!path.startsWith('/')) return join(where.cwd, path);
  const link = processLink(path);
  if (link === undefined) return absolute(normalize(path), where);
  return link.kind === 'root' ? place(`/${link.rest}`, where) : join(where.cwd, link.rest);
}

/** True when the place is the directory or lies below it. */
function isBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`);
}

const homes = /^(?:\/root|\/(?:home|Users)\/[^/*?\0]+|\/var\/root)(?=\/|$)|^\/(?:home|Users)\/[^/]+(?=\/\.)/;

function absolute(path: string, { workspace, home }: Where): string {
  if (workspace !== undefined && workspace !== '/' && isBelow(path, workspace)) {
    return path === workspace ? '.' : `.${path.slice(workspace.length)}`;
  }
  if (home !== undefined && home !== '/' && isBelow(path, home)) return `~${path.slice(home.length)}`;
  const found = homes.exec(path);
  return found === null ? path : `~${path.slice(found[0].length)}`;
}

function tilde(path: string): string {
  const [first = '', ...rest] = path.split('/');
  if (first === '~+') return join('.', rest.join('/'));
  const below = normalize(`/${rest.join('/')}`);
  return below === '/' ? '~' : `~${below}`;
}

function join(cwd: string, path: string): string {
  if (cwd.startsWith('/')) return normalize(`${cwd}/${path}`);
  if (cwd.startsWith('~') || cwd.startsWith(unknownText)) {
    const below = climb(`${cwd.slice(1)}/${path}`.split('/'));
    if (below[0] === '..') return normalize(`/home/${below.slice(1).join('/')}`);
    return below.length === 0 ? (cwd[0] ?? '') : `${cwd[0]}/${below.join('/')}`;
  }
  const below = climb(`${cwd}/${path}`.split('/'));
  if (below.length === 0) return '.';
  return below[0] === '..' ? below.join('/') : `./${below.join('/')}`;
}

function normalize(path: string): string {
  return `/${climb(path.split('/'))
    .filter((segment) => segment !== '..')
    .join('/')}`;
}

/** Resolves `.` and `..`; those that lead above the start remain in front. */
function climb(segments: readonly string[]): string[] {
  const kept: string[] = [];
  for (const segment of segments) {
    if (segment === '' || segment === '.') continue;
    if (segment === '..' && kept.length > 0 && kept.at(-1) !== '..') kept.pop();
    else kept.push(segment);
  }
  return kept;
}
