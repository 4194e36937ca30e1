/** Ways to a server: each opens a new stream of bytes that leads there. */
import { connect as connectPlain, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { urlWithoutSecrets } from '../../base/url-without-secrets.js';
import { WorkcellError } from '../../protocol/index.js';

/** Opens a new stream that leads to a server. */
export type Connect = () => Promise<Duplex>;

/** Where a server is: a URL, a Unix socket, or a function that opens a stream to it. */
export type Place =
  | { readonly url: string; readonly ca?: string | undefined }
  | { readonly socketPath: string }
  | { readonly connect: Connect };

const connectMs = 10_000;

/** How to connect to a place, the origin that requests to it name, and the path before all of theirs. */
export function waysTo(place: Place): { connect: Connect; origin: string; base: string; isLocal: boolean } {
  if ('connect' in place)
    return { connect: place.connect, origin: 'http://localhost', base: '', isLocal: false };
  if ('socketPath' in place) {
    const { socketPath } = place;
    return {
      connect: () => opened(connectPlain(socketPath), 'connect'),
      origin: 'http://localhost',
      base: '',
      isLocal: true,
    };
  }
  const url = parseUrl(place.url);
  const base = url.pathname.replace(/\/+$/, '');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (url.protocol === 'https:') {
    const options = { host, port: Number(url.port || 443), ca: place.ca, ALPNProtocols: ['http/1.1'] };
    return {
      connect: () =>
        opened(connectTls({ ...options, ...(isIP(host) === 0 && { servername: host }) }), 'secureConnect'),
      origin: url.origin,
      base,
      isLocal: false,
    };
  }
  return {
    connect: () => opened(connectPlain({ host, port: Number(url.port || 80), noDelay: true }), 'connect'),
    origin: url.origin,
    base,
    isLocal: false,
  };
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:') && url.search === '')
    return url;
  const shown = urlWithoutSecrets(text);
  throw new WorkcellError(
    'invalid-config',
    `"${shown}" is not the address of a server. Give one such as http://127.0.0.1:8700, or with the path that it is served below, and no query.`,
    { details: { url: shown } },
  );
}

function opened<Socket extends Duplex>(socket: Socket, event: 'connect' | 'secureConnect'): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      socket.destroy();
      reject(Object.assign(new Error(`no answer within ${connectMs} ms`), { code: 'ETIMEDOUT' }));
    }, connectMs);
    const settle = (error?: Error) => {
      clearTimeout(timer);
      socket.off(event, onOpen);
      socket.off('error', settle);
      if (error === undefined) resolve(socket);
      else reject(error);
    };
    const onOpen = () => settle();
    socket.once(event, onOpen);
    socket.once('error', settle);
  });
}
