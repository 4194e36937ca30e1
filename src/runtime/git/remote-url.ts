/** Checks the addresses that Git may fetch from. */
import { posix } from 'node:path';
import { WorkcellError } from '../../protocol/index.js';

const schemes = ['https:', 'http:', 'ssh:', 'file:'];

/**
 * Returns the address, or throws for one that git would read as an option, a helper program or a place for a
 * password.
 */
export function checkUrl(url: string): string {
  if (url === '' || /^[-\s]|[\x00-\x1f\x7f]|^[^/]*::/.test(url))
    throw refused(url, 'is no address of a repository');
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(url)) return url;
  const parsed = parseUrl(url);
  if (parsed === undefined || !schemes.includes(parsed.protocol))
    throw refused(url, `has a scheme that is not used; take one of ${schemes.join(' ')}`);
  if (parsed.password !== '')
    throw new WorkcellError(
      'invalid-action',
      'The address of a repository must not contain a password; give the name of a secret as token.',
    );
  return url;
}

/** The directory a clone goes to: the last part of the path, without `.git`. */
export function directoryFor(url: string): string {
  const name = posix
    .basename(
      url
        .replace(/[?#].*$/, '')
        .replace(/\/+$/, '')
        .replace(/\/\.git$/, ''),
    )
    .replace(/^.*:/, '')
    .replace(/\.git$/, '');
  if (name === '' || name === '.' || name === '..')
    throw refused(url, 'does not name a directory; give one as into');
  return name;
}

/** The server that may get the token. Without encryption, only loopback may. */
export function tokenServer(url: string): URL {
  const parsed = parseUrl(url);
  const isLoopback = ['127.0.0.1', '[::1]', 'localhost'].includes(parsed?.hostname ?? '');
  if (parsed !== undefined && (parsed.protocol === 'https:' || (parsed.protocol === 'http:' && isLoopback)))
    return parsed;
  throw new WorkcellError(
    'denied',
    `Workcell sends a token over https only, and ${JSON.stringify(url)} is not https.`,
  );
}

function parseUrl(url: string): URL | undefined {
  return URL.canParse(url) ? new URL(url) : undefined;
}

function refused(url: string, why: string): WorkcellError {
  return new WorkcellError('invalid-action', `${JSON.stringify(url)} ${why}.`);
}
