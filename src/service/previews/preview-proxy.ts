/** Carries a request to a server in a cell, over a connection to its port, and the answer back. */
import { type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import { type Duplex, pipeline } from 'node:stream';

interface Forwarded {
  readonly path: string;
  readonly port: number;
  /** In place of those of the request. */
  readonly cookie: string | undefined;
  /** The preview has no host of its own. */
  readonly shared: boolean;
}

/** Of one connection, and not of the message. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Of the whole host, which other previews share, or of the domain above it. */
const ofTheHost = new Set([
  'alt-svc',
  'clear-site-data',
  'nel',
  'report-to',
  'reporting-endpoints',
  'service-worker-allowed',
  'strict-transport-security',
]);

export function forward(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  inside: Duplex,
  to: Forwarded,
): void {
  const upstream = send({
    method: incoming.method,
    path: to.path,
    headers: [...requestHeaders(incoming, to), ['connection', 'close']].flat(),
    setHost: false,
    createConnection: () => inside,
  });
  const fail = () => {
    inside.destroy();
    if (outgoing.headersSent) outgoing.destroy();
    else
      outgoing
        .writeHead(502, { 'content-type': 'text/plain' })
        .end('The server in the cell gives no answer.\n');
  };
  upstream.once('error', fail);
  // A program that switches protocols unasked. Without a listener it would be no answer, and no error either.
  upstream.once('upgrade', fail);
  outgoing.once('close', () => inside.destroy());
  upstream.once('response', (answer) => {
    try {
      outgoing.writeHead(answer.statusCode ?? 502, answerHeaders(answer, to));
    } catch {
      // A program of the cell answers, and may send what no server may send, such as the status 099.
      return fail();
    }
    outgoing.flushHeaders();
    pipeline(answer, outgoing, () => inside.destroy());
  });
  pipeline(incoming, upstream, () => {});
}

/** A connection that becomes a WebSocket, or whatever both sides agree on: bytes in both directions. */
export function forwardUpgrade(
  incoming: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  inside: Duplex,
  to: Forwarded,
): void {
  const upstream = send({
    method: incoming.method,
    path: to.path,
    headers: [
      ...requestHeaders(incoming, to),
      ['connection', 'Upgrade'],
      ['upgrade', incoming.headers.upgrade ?? ''],
    ].flat(),
    setHost: false,
    createConnection: () => inside,
  });
  const refuse = () => {
    inside.destroy();
    socket.end('HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
  };
  upstream.once('error', refuse);
  upstream.once('response', refuse);
  upstream.once('upgrade', (answer, _connection, first) => {
    const headers = [
      ...pairs(answerHeaders(answer, to)),
      ['connection', 'Upgrade'],
      ['upgrade', answer.headers.upgrade ?? ''],
    ];
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
      'latin1',
    );
    if (first.length > 0) socket.write(first);
    if (head.length > 0) inside.write(head);
    pipeline(socket, inside, () => socket.destroy());
    pipeline(inside, socket, () => inside.destroy());
  });
  upstream.end();
}

function requestHeaders({ rawHeaders, headers, method }: IncomingMessage, to: Forwarded): [string, string][] {
  const kept = pairs(rawHeaders).filter(
    ([name]) => !hopByHop.has(name.toLowerCase()) && !['host', 'cookie'].includes(name.toLowerCase()),
  );
  const streams = headers['transfer-encoding'] !== undefined && method !== 'GET' && method !== 'HEAD';
  return [
    // What servers for development answer to, whatever name the preview has outside.
    ['host', `localhost:${to.port}`],
    ...kept,
    ['x-forwarded-host', headers.host ?? ''],
    ...(to.cookie === undefined ? [] : [['cookie', to.cookie] satisfies [string, string]]),
    ...(streams ? [['transfer-encoding', 'chunked'] satisfies [string, string]] : []),
  ];
}

function answerHeaders({ rawHeaders }: IncomingMessage, { shared }: Forwarded): string[] {
  const kept = pairs(rawHeaders).flatMap(([name, value]): [string, string][] => {
    const lower = name.toLowerCase();
    if (hopByHop.has(lower) || ofTheHost.has(lower)) return [];
    if (lower !== 'set-cookie') return [[name, value]];
    // Cookies reach beyond the port of a host, so those of a shared one would go to others.
    return shared ? [] : [[name, value.replaceAll(/;\s*domain=[^;]*/gi, '')]];
  });
  // Pages of a shared host get an origin that is nobody's: they can neither read nor act as each other.
  const sandbox =
    'sandbox allow-scripts allow-forms allow-popups allow-modals allow-downloads allow-pointer-lock';
  return [
    ...kept,
    ...(shared ? [['content-security-policy', sandbox] satisfies [string, string]] : []),
    ['referrer-policy', 'no-referrer'],
    ['x-robots-tag', 'noindex'],
  ].flat();
}

function pairs(raw: readonly string[]): [string, string][] {
  const found: [string, string][] = [];
  for (let index = 0; index + 1 < raw.length; index += 2)
    found.push([raw[index] ?? '', raw[index + 1] ?? '']);
  return found;
}
