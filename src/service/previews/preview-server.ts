/** Ports of cells as web addresses, on a listener of their own: nothing in a preview is same-origin with the service. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { checkOneHost } from '../../base/http/access.js';
import { defaultHttpLimits, type ListenAddress } from '../../base/http/http-options.js';
import { errorTable, WorkcellError } from '../../protocol/index.js';
import type { ServiceCells } from '../service-cells.js';
import { type Admission, admit } from './preview-admission.js';
import { PreviewConnections } from './preview-connections.js';
import { type PreviewLink, PreviewLinks } from './preview-links.js';
import { forward, forwardUpgrade } from './preview-proxy.js';

export interface PreviewServer {
  readonly address: ListenAddress;
  readonly links: PreviewLinks;
  close(): Promise<void>;
}

/** The longest that a timer can wait. */
const longestTimer = 2 ** 31 - 1;

export async function startPreviews(options: {
  readonly listen: { readonly host: string; readonly port: number };
  readonly url: string | undefined;
  readonly secret: string;
  readonly cells: ServiceCells;
}): Promise<PreviewServer> {
  const { listen, cells } = options;
  const limits = defaultHttpLimits;
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.requestMs,
    requestTimeout: 0,
  });
  server.maxConnections = limits.connections;
  const sockets = new Set<Duplex>();
  const inside = { cells, connections: new PreviewConnections() };
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(listen.port, listen.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host;
  const links = new PreviewLinks(options.secret, options.url ?? `http://${host}:${port}`);

  server.on('request', (incoming, outgoing) => {
    const refuse = (error: unknown) => {
      const { status, text } = refusalOf(error);
      outgoing.writeHead(status, {
        'content-type': 'text/plain; charset=utf-8',
        'cache-control': 'no-store',
      });
      outgoing.end(`${text}\n`);
    };
    void (async () => {
      const admission = admitted(links, incoming);
      if ('redirect' in admission) {
        const { redirect: location, setCookie } = admission;
        outgoing
          .writeHead(302, { location, 'set-cookie': setCookie, 'referrer-policy': 'no-referrer' })
          .end();
        return;
      }
      const connection = await connect(inside, admission.link, incoming.socket);
      forward(incoming, outgoing, connection, sentTo(links, admission));
    })().catch(refuse);
  });

  server.on('upgrade', (incoming, socket, head) => {
    socket.on('error', () => {});
    void (async () => {
      const admission = admitted(links, incoming);
      if ('redirect' in admission) throw noLink();
      const connection = await connect(inside, admission.link, socket);
      forwardUpgrade(incoming, socket, head, connection, sentTo(links, admission));
    })().catch((error: unknown) => {
      const { status } = refusalOf(error);
      socket.end(`HTTP/1.1 ${status} Refused\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
    });
  });

  return {
    address: { host: listen.host, port },
    links,
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      if (server.listening) await once(server, 'close');
    },
  };
}

function admitted(links: PreviewLinks, incoming: IncomingMessage): Admission {
  checkOneHost(incoming.rawHeaders);
  const admission = admit(links, incoming);
  if (admission === undefined) throw noLink();
  return admission;
}

/** Uses the cell as long as the client is there, and no longer than the link holds. */
async function connect(
  { cells, connections }: { readonly cells: ServiceCells; readonly connections: PreviewConnections },
  { cell, port, expiresAt }: PreviewLink,
  client: Duplex,
): Promise<Duplex> {
  const record = cells.byId(cell);
  if (record === undefined) throw noLink();
  const leaveCell = connections.enter(cell);
  const { runtime, done: letGo } = await cells.use(record.tenant, cell).catch((error: unknown) => {
    leaveCell();
    throw error;
  });
  const done = () => {
    leaveCell();
    letGo();
  };
  try {
    if (runtime.connect === undefined)
      throw new WorkcellError('capability-unsupported', 'This cell cannot forward its ports.');
    const inside = (await runtime.connect(port)) as Duplex;
    inside.on('error', () => {});
    const timer = setTimeout(() => inside.destroy(), Math.min(expiresAt - Date.now(), longestTimer));
    inside.once('close', () => {
      clearTimeout(timer);
      done();
    });
    const leave = () => inside.destroy();
    client.once('close', leave);
    // A client that asks again and again keeps its connection.
    inside.once('close', () => client.off('close', leave));
    if (client.destroyed) leave();
    return inside;
  } catch (error) {
    done();
    throw error;
  }
}

function sentTo(links: PreviewLinks, { link, path, cookie }: Exclude<Admission, { redirect: string }>) {
  return { path, port: link.port, cookie, shared: links.hostSuffix === undefined };
}

/** Reveals only to holders of a link whether a cell exists. */
function noLink(): WorkcellError {
  return new WorkcellError('not-found', 'This link does not hold, or its time is over. Ask for a new one.');
}

function refusalOf(error: unknown): { status: number; text: string } {
  if (WorkcellError.isInstance(error)) return { status: errorTable[error.code].status, text: error.message };
  return { status: 502, text: 'Nothing in the cell listens on this port.' };
}
