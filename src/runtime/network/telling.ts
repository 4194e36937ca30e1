/** What the first bytes of a stream tell. */
import { type Host, parseHost } from '../../protocol/network/host.js';
import { longestHello, looksLikeTls, parseClientHello } from './client-hello.js';
import { longestLine, looksLikeHttp, mayBecomeHttp } from './request-line.js';

/** True when enough has come to tell TLS and HTTP from anything else, and to read the name of the server. */
export function isTelling(bytes: Buffer): boolean {
  if (looksLikeTls(bytes)) return bytes.length > longestHello || parseClientHello(bytes) !== 'more';
  return looksLikeHttp(bytes) || !mayBecomeHttp(bytes) || bytes.length >= longestLine;
}

/** The host that a TLS hello names. */
export function namedIn(first: Buffer): Host | undefined {
  const named = addresseeOf(first);
  return typeof named === 'object' ? named : undefined;
}

/** Whom a program speaks to: the host that it names, `nobody` by name, or `unread`, which the first bytes do not tell. */
export type Addressee = Host | 'nobody' | 'unread';

/** Of HTTP, each request has a host of its own. A TLS hello that cannot be read may name any. */
export function addresseeOf(first: Buffer): Addressee {
  if (looksLikeTls(first)) {
    const hello = parseClientHello(first);
    if (hello === undefined || hello === 'more') return 'unread';
    return hello.serverName === undefined ? 'nobody' : (parseHost(hello.serverName) ?? 'unread');
  }
  return looksLikeHttp(first) || mayBecomeHttp(first) ? 'unread' : 'nobody';
}
