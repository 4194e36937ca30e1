/** Who may talk to the server: the Host and Origin of a request, and its token. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { WorkcellError } from '../../protocol/index.js';
import { socketKeyPrefix } from '../../protocol/record-wire.js';
import type { Exposure } from './http-options.js';

export interface Access {
  /** Throws when the request is not for this server or comes from a page that may not send it. */
  checkSource(headers: IncomingHttpHeaders): void;
  /** Throws when the request lacks the token. */
  checkToken(headers: IncomingHttpHeaders): void;
}

export function createAccess(
  options: Pick<Exposure, 'token' | 'hosts' | 'origins'> & {
    /** Further headers, in lower case, that may carry the token, for clients of other protocols. */
    readonly tokenHeaders?: readonly string[] | undefined;
    /** The server has pages of its own, which may send it requests. */
    readonly ownPages?: boolean | undefined;
  },
): Access {
  const { tokenHeaders = [], ownPages = false } = options;
  const hosts = new Set((options.hosts ?? []).map((host) => host.toLowerCase()));
  const origins = new Set(options.origins ?? []);
  const expected = options.token === undefined ? undefined : [options.token].flat().map(digest);

  return {
    checkSource({ host, origin }) {
      const name = hostNameOf(host ?? '');
      if (!isLoopback(name) && !hosts.has(name)) {
        throw new WorkcellError(
          'request-refused',
          `This server does not answer to the host ${JSON.stringify(host ?? '')}. Use localhost, or start it with that host allowed.`,
        );
      }
      // The host is one that this server answers to, so a page from there is one of its own.
      const isOwn = ownPages && [`http://${host}`, `https://${host}`].includes(origin ?? '');
      if (origin !== undefined && !isOwn && !origins.has(origin)) {
        throw new WorkcellError(
          'request-refused',
          `Pages from ${JSON.stringify(origin)} may not use this server. Start it with that origin allowed.`,
        );
      }
    },
    checkToken(headers) {
      if (expected === undefined) return;
      const given = [
        bearer(headers.authorization),
        socketKey(headers),
        ...tokenHeaders.map((name) => headers[name]),
      ];
      const digests = given.filter((token) => typeof token === 'string').map(digest);
      // Compare all of them, so that the time does not reveal which one matched.
      const matches = expected.flatMap((one) => digests.filter((other) => timingSafeEqual(one, other)));
      if (matches.length > 0) return;
      throw new WorkcellError(
        'unauthorized',
        'The request carries no valid token. Send the header "Authorization: Bearer <token>".',
      );
    },
  };
}

/** The key that a browser sends with a WebSocket, as one of the protocols that it offers. */
export function socketKey(headers: IncomingHttpHeaders): string | undefined {
  const offered = headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? [];
  const encoded = offered.find((name) => name.startsWith(socketKeyPrefix))?.slice(socketKeyPrefix.length);
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64url').toString();
}

/** Two hosts in one request could pass a check that looks at the other one. */
export function checkOneHost(rawHeaders: readonly string[]): void {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.length === 4 && rawHeaders[index]?.toLowerCase() === 'host') hosts++;
  if (hosts > 1) throw new WorkcellError('invalid-action', 'The request names more than one Host.');
}

/** True for addresses and names that lead to this machine itself. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}

/** Hash both sides, so that the time reveals neither content nor length. */
function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function bearer(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
}

function hostNameOf(host: string): string {
  const [, bracketed, plain = ''] = /^(?:\[([\da-f:.]+)\]|([^:[\]]+))(?::\d{1,5})?$/i.exec(host) ?? [];
  return (bracketed ?? plain).toLowerCase();
}
