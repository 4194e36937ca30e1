/** The connection that requests of a cell come by, and what it has towards servers. */
import { Agent, type ClientRequest, type IncomingMessage, request as startRequest } from 'node:http';
import type { Duplex } from 'node:stream';
import { formatAuthority, type Host } from '../../protocol/network/host.js';
import { withHost } from './http-heads.js';
import type { HttpTarget } from './http-target.js';
import type { Refusal } from './refusal.js';
import type { Meter } from './tie.js';

/** How a connection of a cell is judged. */
export interface ClientConnection {
  /** The host of the connection, where we know it. */
  readonly host?: Host | undefined;
  readonly port: number;
  /** A proxy takes whole addresses, and CONNECT. */
  readonly isProxy: boolean;
  /** Judges a target and connects to it. Throws where the rules refuse it or it does not answer. */
  connect(host: Host, port: number): Promise<Duplex>;
  /** Judges a target without connecting to it; throws where the rules refuse it. */
  check(host: Host, port: number): Promise<void>;
  /**
   * Judges what the head of a request says beyond its target, by the rules of this moment; throws where they refuse it.
   */
  judge(target: HttpTarget, incoming: IncomingMessage): void;
  /** Puts secrets in and gives the request as it is sent on; throws where it must not be sent. */
  edit(target: HttpTarget, incoming: IncomingMessage): Promise<EditedRequest>;
  /** Takes a connection that was asked for with CONNECT. */
  tunnel(stream: Duplex, host: Host, port: number, head: Buffer): void;
  /** Called for a request that it refuses before the request has a target. */
  onRefused(refusal: Refusal): void;
  /** Told of the bytes of bodies and heads. */
  readonly meter: Meter;
}

/** A request as it is sent on. */
export interface EditedRequest {
  readonly rawHeaders: readonly string[];
  /** In place of the body that came, which was read. */
  readonly body?: Buffer | undefined;
  /** Sees each piece of the body; throws where it must not be sent. */
  readonly scan?: ((chunk: Buffer) => void) | undefined;
  /** To be called when the request is over. */
  readonly release?: (() => void) | undefined;
}

export interface Client extends ClientConnection {
  readonly upstreams: Map<string, Upstream>;
  /** Requests without an answer yet. */
  waiting: number;
  /** Ends the connection when no whole head comes in time. */
  idle: NodeJS.Timeout | undefined;
}

interface Upstream {
  readonly agent: Agent;
  /** How many requests use it now, or wait for it. */
  used: number;
  /** Settles when the last request so far is over. */
  last: Promise<void>;
}

/** How long a connection to a server waits for the next request. */
const keptMs = 60_000;

export interface Turn {
  /** Settles when the requests of the client to that host which came before are over. */
  readonly comes: Promise<void>;
  end(): void;
}

/**
 * Requests to a host take turns in the order in which they came, which is that of their answers. The agent would send
 * them side by side while it connects.
 */
export function queue(client: Client, { host, port }: HttpTarget): Turn {
  const upstream = upstreamFor(client, host, port);
  const comes = upstream.last;
  let settle = () => {};
  upstream.last = new Promise((resolve) => {
    settle = resolve;
  });
  upstream.used++;
  return {
    comes,
    end() {
      upstream.used--;
      // Those before may not be over, where this one was refused.
      void comes.then(settle);
    },
  };
}

/** Sends a request when there is a connection to its server, unless the rules refuse it by then. */
export function send(
  client: Client,
  target: HttpTarget,
  incoming: IncomingMessage,
  headers: string[],
): ClientRequest {
  const { host, port, path } = target;
  const upstream = upstreamFor(client, host, port);
  const outgoing = startRequest({
    agent: upstream.agent,
    method: incoming.method,
    path,
    headers: withHost(headers, target),
    // Nothing looks it up: the agent connects to the judged address.
    host: 'judged.invalid',
    port,
  });
  // Nothing is written before this event, and nothing can happen between the two.
  outgoing.once('socket', () => {
    try {
      client.judge(target, incoming);
    } catch (error) {
      outgoing.destroy(error as Error);
    }
  });
  upstream.used++;
  outgoing.once('close', () => upstream.used--);
  return outgoing;
}

/**
 * One connection to each host for each connection of the cell, so that both end together. End the idle ones when the
 * client wants another host: a cell must not collect them.
 */
function upstreamFor(client: Client, host: Host, port: number): Upstream {
  const key = formatAuthority(host, port);
  const known = client.upstreams.get(key);
  if (known !== undefined) return known;
  for (const [other, { agent, used }] of client.upstreams) {
    if (used > 0) continue;
    agent.destroy();
    client.upstreams.delete(other);
  }
  const agent = new Agent({ keepAlive: true, maxSockets: 1, timeout: keptMs });
  agent.createConnection = (_options, done) => {
    client.connect(host, port).then(
      (stream) => done?.(null, stream),
      (error: Error) => done?.(error, undefined as never),
    );
    return undefined as never;
  };
  const upstream: Upstream = { agent, used: 0, last: Promise.resolve() };
  client.upstreams.set(key, upstream);
  return upstream;
}
