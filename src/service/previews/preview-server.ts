/** Ports of cells as web addresses, on a listener of their own: nothing in a preview is same-origin with the service. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { checkOneHost } from '../../base/http/access.js';
import { defaultHttpLimits, type ListenAddress } from '../../base/http/http-options.js';
import { errorTable, WorkcellError } from '../../protocol/index.js';
import type { ServiceCells } from '../service-cells.js';
import type { ServiceKeys } from '../service-keys.js';
import { type Admission, admit } from './preview-admission.js';
import { PreviewConnections } from './preview-connections.js';
import { type PreviewLink, PreviewLinks } from './preview-links.js';
import { forward, forwardUpgrade } from './preview-proxy.js';

export interface PreviewServer {
  readonly address: ListenAddress;
  readonly links: PreviewLinks;
  close(): Promise<void>;
}

export async function startPreviews(options: {
  readonly listen: { readonly host: string; readonly port: number };
  readonly url: string | undefined;
  readonly secret: string;
  readonly cells: ServiceCells;
  readonly keys: Pick<ServiceKeys, 'proofOf' | 'track'>;
}): Promise<PreviewServer> {
  const { listen, cells, keys } = options;
  const limits = defaultHttpLimits;
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.requestMs,
    requestTimeout: 0,
  });
  server.maxConnections = limits.connections;
  const sockets = new Set<Duplex>();
  const inside = { cells, keys, connections: new PreviewConnections() };
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(listen.port, listen.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host;
  const links = new PreviewLinks(options.secret, keys, options.url ?? `http://${host}:${port}`);

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

interface Inside {
  readonly cells: ServiceCells;
  readonly keys: Pick<ServiceKeys, 'track'>;
  readonly connections: PreviewConnections;
}

/** Uses the cell as long as the client is there, and no longer than the link and its key hold. */
async function connect(
  { cells, keys, connections }: Inside,
  link: PreviewLink,
  client: Duplex,
): Promise<Duplex> {
  const record = cells.byId(link.cell);
  if (record === undefined) throw noLink();
  const over = new AbortController();
  const leave = () => over.abort();
  const ends = [
    connections.enter(record),
    keys.track({ id: link.key, expiresAt: link.expiresAt }, leave),
    // A client that asks again and again keeps its connection.
    () => client.off('close', leave),
  ];
  client.once('close', leave);
  const done = () => {
    for (const end of ends) end();
  };
  try {
    const { runtime, done: letGo } = await cells.use(record.tenant, link.cell);
    ends.push(letGo);
    if (runtime.connect === undefined)
      throw new WorkcellError('capability-unsupported', 'This cell cannot forward its ports.');
    const inside = (await runtime.connect(link.port)) as Duplex;
    inside.on('error', () => {});
    inside.once('close', done);
    const cut = () => inside.destroy();
    over.signal.addEventListener('abort', cut, { once: true });
    if (over.signal.aborted || client.destroyed) cut();
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
