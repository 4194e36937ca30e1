/** Names of stores: `memory`, `sqlite:<file>`, `postgres://…`. */
import { join, resolve } from 'node:path';
import { stateDirectory } from '../../base/user-directories.js';
import { WorkcellError } from '../../protocol/index.js';

/** A file per user, where programs keep data that the user would miss. */
export function defaultStore(): string {
  return `sqlite:${join(stateDirectory(), 'events.db')}`;
}

/** A store's name with its file made absolute. */
export function placeOf(name: string, base = process.cwd()): string {
  const [, file] = /^sqlite:(?:\/\/)?(.+)$/s.exec(name) ?? [];
  if (file !== undefined) return `sqlite:${resolve(base, file)}`;
  if (name === 'memory' || /^postgres(?:ql)?:\/\/./.test(name)) return name;
  throw new WorkcellError(
    'invalid-config',
    `There is no event store ${JSON.stringify(name)}. Accepted: memory, sqlite:<file>, postgres://<user>@<host>/<database>.`,
    { details: { key: 'events.store' } },
  );
}

export function shownPlace(place: string): string {
  return place.startsWith('postgres') ? shownUrl(place) : place;
}

/** The address without its secrets. */
export function shownUrl(url: string): string {
  try {
    const { protocol, username, host, pathname } = new URL(url);
    return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
  } catch {
    return 'postgres://[unreadable]';
  }
}
