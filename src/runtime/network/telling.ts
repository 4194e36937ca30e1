/** What the first bytes of a stream tell. */
import { type Host, parseHost } from '../../protocol/network/host.js';
import { longestHello, looksLikeTls, parseClientHello } from './client-hello.js';
import { longestLine, looksLikeHttp, mayBecomeHttp } from './http-target.js';

/** True when enough has come to tell TLS and HTTP from anything else, and to read the name of the server. */
export function isTelling(bytes: Buffer): boolean {
  if (looksLikeTls(bytes)) return bytes.length > longestHello || parseClientHello(bytes) !== 'more';
  return looksLikeHttp(bytes) || !mayBecomeHttp(bytes) || bytes.length >= longestLine;
}

/** The host that a TLS hello names. */
export function namedIn(first: Buffer): Host | undefined {
  const hello = parseClientHello(first);
  if (hello === undefined || hello === 'more' || hello.serverName === undefined) return undefined;
  return parseHost(hello.serverName);
}
