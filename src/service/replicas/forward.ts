/** Carries a request to the replica that serves, and its answer back. */
import { type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import { type Duplex, pipeline } from 'node:stream';
import type { LinkAgent, Place } from './replica-link.js';

/** Rejects only when nothing of the request has left. */
export function forward(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  to: Place,
  agent: LinkAgent,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const upstream = send({
      ...to,
      agent,
      method: incoming.method,
      path: incoming.url,
      headers: endToEnd(incoming.rawHeaders),
      setHost: false,
    });
    let sent = false;
    upstream.once('socket', () => {
      sent = true;
      pipeline(incoming, upstream, () => {});
      resolve();
    });
    upstream.on('error', (error) => {
      if (!sent) return reject(error);
      outgoing.destroy();
    });
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) upstream.destroy();
    });
    upstream.once('response', (answer) => {
      try {
        outgoing.writeHead(answer.statusCode ?? 502, answer.statusMessage, endToEnd(answer.rawHeaders));
      } catch {
        // The client has its answer already, or has left.
        upstream.destroy();
        return void outgoing.destroy();
      }
      outgoing.flushHeaders();
      pipeline(answer, outgoing, () => {});
    });
  });
}

/** A connection that becomes a WebSocket: the request as it came, then bytes in both directions. */
export async function forwardUpgrade(
  incoming: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  to: Place,
  agent: LinkAgent,
): Promise<void> {
  const inside = await agent.connect(to);
  const lines = [`${incoming.method} ${incoming.url} HTTP/1.1`];
  for (let at = 0; at < incoming.rawHeaders.length; at += 2)
    lines.push(`${incoming.rawHeaders[at]}: ${incoming.rawHeaders[at + 1]}`);
  inside.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  inside.write(head);
  pipeline(inside, socket, inside, () => {});
}

/** Of one connection, and not of the message. */
const ofTheConnection = new Set(['connection', 'keep-alive', 'proxy-connection', 'expect', 'upgrade']);

function endToEnd(raw: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const [name = '', value = ''] = raw.slice(at, at + 2);
    if (!ofTheConnection.has(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}
