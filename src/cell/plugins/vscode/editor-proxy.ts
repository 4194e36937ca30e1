/** Where browsers reach the editor. It decides who may use it, outside of what runs in the cell. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, isIP, type Socket } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';
import { WorkcellError } from '../../../protocol/index.js';
import type { OwnerTokens } from '../owner-tokens.js';

/** No person's browser opens more than these at once. */
const mostConnections = 512;

export interface EditorProxyOptions {
  readonly host: string;
  readonly port: number;
  readonly tokens: OwnerTokens;
  /** A connection to the editor. */
  connect(): Promise<Duplex>;
}

export class EditorProxy {
  readonly #options: EditorProxyOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Browsers keep cookies by host and not by port, so several editors need a name each. */
  readonly #cookie = `vscode-${randomBytes(8).toString('hex')}`;
  /** Replaces the token after the first page. The editor sees neither. */
  readonly #pass = randomBytes(32).toString('hex');

  private constructor(options: EditorProxyOptions) {
    this.#options = options;
    this.#server = createServer((incoming, response) => void this.#answer(incoming, response));
    this.#server.maxConnections = mostConnections;
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('upgrade', (incoming, socket, head) => void this.#join(incoming, socket, head));
    this.#server.unref();
  }

  static async open(options: EditorProxyOptions): Promise<EditorProxy> {
    const proxy = new EditorProxy(options);
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once('error', (cause: NodeJS.ErrnoException) => {
        const why = cause.code === 'EADDRINUSE' ? 'another program listens there' : cause.message;
        const place = `${options.host}:${options.port}`;
        const message = `The editor cannot listen on ${place}: ${why}. Choose another port.`;
        reject(new WorkcellError('backend-unavailable', message, { cause }));
      });
      proxy.#server.listen(options.port, options.host, resolve);
    });
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    incoming.on('error', () => {});
    response.on('error', () => {});
    const refusal = this.#refusal(incoming);
    if (refusal === 'token') return this.#letIn(incoming, response);
    if (refusal !== undefined) return void send(response, 403, `${refusal}\n`);
    let inside: Duplex | undefined;
    try {
      const reached = await this.#options.connect();
      inside = reached;
      const { method, url, headers } = incoming;
      const onward = request({
        method,
        path: url,
        headers: this.#withoutPass(headers),
        createConnection: () => reached,
      });
      onward.on('response', (answer) => passOn(answer, response, this.#cookie));
      onward.on('error', () => {});
      // Answer the caller, whatever became of the connection.
      onward.on('close', () => response.headersSent || gone(response));
      response.on('close', () => onward.destroy());
      pipeline(incoming, onward, () => {});
    } catch {
      inside?.destroy();
      gone(response);
    }
  }

  /** Carries a WebSocket unchanged: the editor answers the handshake. */
  async #join(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => {});
    const refusal = this.#refusal(incoming);
    if (refusal !== undefined) return void socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n');
    try {
      const inside = await this.#options.connect();
      const { method, url, headers } = incoming;
      const lines = Object.entries(this.#withoutPass(headers)).flatMap(([name, value]) =>
        [value ?? []].flat().map((text) => `${name}: ${text}`),
      );
      inside.write([`${method} ${url} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
      inside.write(head);
      pipeline(socket, inside, () => {});
      pipeline(inside, socket, () => socket.destroy());
    } catch {
      socket.end('HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\n\r\n');
    }
  }

  /**
   * Why it refuses a request; `token` when the request brings a right one, to exchange for the cookie first. A page
   * of another server on this machine shares the cookies of this one, so the origin of a request counts as well.
   */
  #refusal({ url = '', method, headers }: IncomingMessage): string | undefined {
    const { host = '', origin } = headers;
    if (!this.#isOwnHost(host)) return 'The editor does not answer to this host.';
    if (origin !== undefined && !isSame(origin, host)) return 'Pages from elsewhere may not use the editor.';
    // The editor has a parameter of the same name for its own requests, which come with the cookie.
    const token = partsOf(url).query.get('tkn');
    if (method === 'GET' && token !== null && this.#options.tokens.has(token)) return 'token';
    const site = headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin' && site !== 'none')
      return 'Pages from elsewhere may not use the editor.';
    const given = Buffer.from(this.#passIn(headers.cookie) ?? '');
    const wanted = Buffer.from(this.#pass);
    return given.length === wanted.length && timingSafeEqual(given, wanted)
      ? undefined
      : 'The token is missing or wrong: open the address that the runtime gives.';
  }

  /**
   * The page loads the next one by itself: the browser would attribute a redirect to the page that held the address.
   */
  #letIn({ url = '' }: IncomingMessage, response: ServerResponse): void {
    const { path, query } = partsOf(url);
    query.delete('tkn');
    const next = `${/^\/(?![/\\])/.test(path) ? path : '/'}?${query}`;
    response.setHeader('set-cookie', `${this.#cookie}=${this.#pass}; Path=/; HttpOnly; SameSite=Strict`);
    response.setHeader('content-security-policy', "default-src 'none'");
    const target = next.replace(/[&"<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
    send(response, 200, `<!doctype html><meta http-equiv="refresh" content="0;url=${target}">`, 'text/html');
  }

  /** A foreign name that leads here does not count as a name of this server, unless it listens beyond loopback. */
  #isOwnHost(host: string): boolean {
    return !isLoopback(this.#options.host) || isLoopback(host.replace(/:\d+$/, '').replace(/^\[|\]$/g, ''));
  }

  #passIn(cookies = ''): string | undefined {
    const own = cookies.split(/; */).find((cookie) => cookie.startsWith(`${this.#cookie}=`));
    return own?.slice(this.#cookie.length + 1);
  }

  /** A browser sends the cookies of every server on this machine; pass on only those of this editor. */
  #withoutPass({ cookie = '', ...headers }: IncomingHttpHeaders): IncomingHttpHeaders {
    const prefix = `${this.#cookie}-`;
    const own = cookie.split(/; */).filter((one) => one.startsWith(prefix));
    const names = own.map((one) => one.slice(prefix.length));
    return names.length === 0 ? headers : { ...headers, cookie: names.join('; ') };
  }
}

function isSame(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** The request target, which need not be an address at all. */
function partsOf(url: string): { path: string; query: URLSearchParams } {
  const [path = ''] = url.split('?', 1);
  return { path, query: new URLSearchParams(url.slice(path.length + 1)) };
}

/**
 * A program of the cell answers, and may send what no server may send. The proxy keeps a cookie that it sets under a
 * name of its own, so that it does not reach another server on this machine.
 */
function passOn(answer: IncomingMessage, response: ServerResponse, cookie: string): void {
  try {
    const headers = answer.rawHeaders.map((text, index, all) => {
      const isCookie = index % 2 === 1 && all[index - 1]?.toLowerCase() === 'set-cookie';
      return isCookie ? `${cookie}-${text.replace(/;\s*domain=[^;]*/gi, '')}` : text;
    });
    response.writeHead(answer.statusCode ?? 502, headers);
    pipeline(answer, response, () => {});
  } catch {
    answer.destroy();
    gone(response);
  }
}

function gone(response: ServerResponse): void {
  send(response, 502, 'The editor does not answer.\n');
}

function send(response: ServerResponse, status: number, body: string, type = 'text/plain'): void {
  response.writeHead(status, {
    'content-type': `${type}; charset=utf-8`,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  });
  response.end(body);
}
