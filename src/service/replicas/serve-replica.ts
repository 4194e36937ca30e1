/**
 * One of several processes that are a service together. One of them has the lease and serves; the others pass requests on
 * to it, and one of them takes over when it is gone. Clients may ask any of them.
 */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Pool } from 'pg';
import { createAccess } from '../../base/http/access.js';
import { createHttpApp } from '../../base/http/http-app.js';
import { errorBody, refuse } from '../../base/http/http-errors.js';
import type { Exposure, ListenAddress, Log } from '../../base/http/http-options.js';
import { listen, withBoundHost } from '../../base/http/listen.js';
import { parseListen } from '../../base/http/listen-option.js';
import { WorkcellError } from '../../protocol/index.js';
import { connectServiceStore, PostgresServiceStore, secretOf } from '../postgres-service-store.js';
import type { ServiceStore } from '../service-store.js';
import { forward, forwardUpgrade } from './forward.js';
import { LeaderWatch } from './leader-watch.js';
import { Leadership, type Term } from './leadership.js';
import { LinkAgent, type Place, serveLink } from './replica-link.js';
import { againMs } from './session.js';

/** The service as long as this replica serves. */
export interface Served {
  readonly app: FastifyInstance;
  /** Leaves all cells running, for the replica that is next. */
  close(): Promise<void>;
}

export interface ReplicaOptions {
  readonly url: string;
  readonly exposure: Pick<Exposure, 'listen' | 'hosts' | 'origins'>;
  /** Where this replica listens for the others. */
  readonly link: Place;
  /** The host under which they reach it. */
  readonly linkHost: string;
  /** How long a replica that serves may be silent before another one takes over. */
  readonly leaseMs: number;
  readonly open: (store: ServiceStore) => Promise<Served>;
  readonly log: Log;
}

/** How long a request waits for a replica that serves. */
const patienceMs = 15_000;

export async function serveReplica(
  options: ReplicaOptions,
): Promise<{ readonly address: ListenAddress; close(): Promise<void> }> {
  const { url, exposure, linkHost } = options;
  const pool = await connectServiceStore(url);
  const closers: (() => unknown)[] = [() => pool.end()];
  const closeAll = async () => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const secret = await secretOf(url, pool);
    const agent = new LinkAgent(secret);
    closers.push(() => agent.destroy());
    const replica = new Replica(options, pool, agent);
    const front = frontOf(replica, exposure, options.log);
    const listener = await listen(front, exposure.listen);
    // It ends connections of others, too.
    closers.push(() => listener.close());
    const link = await serveLink(options.link, secret, (socket) => {
      replica.others.add(socket);
      front.server.emit('connection', socket);
    });
    const work = replica.run(`${linkHost.includes(':') ? `[${linkHost}]` : linkHost}:${link.port}`);
    closers.push(async () => {
      link.close();
      await listener.close();
      await replica.close();
      await work;
    });
    let closing: Promise<void> | undefined;
    return {
      address: listener.address,
      close() {
        closing ??= closeAll();
        return closing;
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** Takes every request, and answers none but whether this process lives. */
function frontOf(replica: Replica, exposure: ReplicaOptions['exposure'], log: Log): FastifyInstance {
  const front = createHttpApp({ access: createAccess({ ...withBoundHost(exposure), ownPages: true }), log });
  front.addHook('onRequest', (request, reply, done) => {
    if (request.url === '/healthz') return done();
    reply.hijack();
    void replica.answer(request.raw, reply.raw);
  });
  front.get('/healthz', async () => ({ alive: true }));
  front.server.on('upgrade', (incoming, socket, head) => {
    socket.on('error', () => {});
    void replica.upgrade(incoming, socket, head);
  });
  return front;
}

class Replica {
  /** Connections of other replicas, whose requests go no further. */
  readonly others = new WeakSet<Duplex>();
  readonly #options: ReplicaOptions;
  readonly #pool: Pool;
  readonly #agent: LinkAgent;
  readonly #leadership: Leadership;
  readonly #watch: LeaderWatch;
  readonly #closing = new AbortController();
  readonly #waiting = new Set<() => void>();
  /** Answers of this replica that are not over. */
  readonly #answers = new Set<ServerResponse>();
  #served: Served | undefined;

  constructor(options: ReplicaOptions, pool: Pool, agent: LinkAgent) {
    this.#options = options;
    this.#pool = pool;
    this.#agent = agent;
    this.#leadership = new Leadership(options);
    this.#watch = new LeaderWatch(options.url, () => this.#tell());
  }

  /** Serves whenever it is its turn, until it is closed. */
  async run(address: string): Promise<void> {
    void this.#watch.start();
    while (!this.#closing.signal.aborted) {
      const term = await this.#leadership.win();
      if (term === undefined) return;
      try {
        await this.#serve(term, address);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        this.#options.log('error', 'This replica cannot serve now.', { reason });
        await term.end();
        await delay(againMs);
      }
    }
  }

  async answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    await this.#toLeader(
      incoming,
      (app) => {
        this.#answers.add(outgoing);
        outgoing.once('close', () => this.#answers.delete(outgoing));
        app.server.emit('request', incoming, outgoing);
      },
      (to) => forward(incoming, outgoing, to, this.#agent),
      (error) => {
        if (outgoing.headersSent) return void outgoing.destroy();
        outgoing.writeHead(503, { 'content-type': 'application/json; charset=utf-8', 'retry-after': '1' });
        outgoing.end(errorBody(error));
      },
    );
  }

  async upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    await this.#toLeader(
      incoming,
      (app) => void app.server.emit('upgrade', incoming, socket, head),
      (to) => forwardUpgrade(incoming, socket, head, to, this.#agent),
      (error) => refuse(socket, '503 Service Unavailable', error),
    );
  }

  /** Stops serving, and lets another one begin. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#leadership.close();
    await this.#watch.close();
  }

  async #serve(term: Term, address: string): Promise<void> {
    const { url, open, log } = this.#options;
    const store = new PostgresServiceStore({
      url,
      pool: this.#pool,
      epoch: term.epoch,
      onLost: () => term.lose(),
    });
    const served = await open(store);
    try {
      await served.app.ready();
      await term.announce(address);
      this.#served = served;
      this.#tell();
      log('info', 'This replica serves.', { epoch: term.epoch });
      await Promise.race([term.over, aborted(this.#closing.signal)]);
    } finally {
      this.#served = undefined;
      if (served.app.hasDecorator('websocketServer'))
        for (const client of served.app.websocketServer.clients) client.close(1001);
      // One that has begun may go on for ever, with cells that are another replica's; the others say what became of them.
      for (const answer of this.#answers) if (answer.headersSent && !answer.writableEnded) answer.destroy();
      await served.close();
      for (const answer of this.#answers) if (!answer.writableEnded) answer.destroy();
      await term.end();
    }
  }

  async #toLeader(
    { socket }: IncomingMessage,
    serve: (app: FastifyInstance) => void,
    pass: (to: Place) => Promise<void>,
    refuseWith: (error: WorkcellError) => void,
  ): Promise<void> {
    const patience = AbortSignal.timeout(patienceMs);
    while (!patience.aborted && !socket.destroyed) {
      if (this.#served !== undefined) return serve(this.#served.app);
      const to = this.#watch.address;
      // It thought that this one serves, which knows no more than it does.
      if (this.others.has(socket)) break;
      if (to !== undefined) {
        try {
          return await pass(parseListen(to) as Place);
        } catch {
          // It is gone, or another one is about to serve.
        }
      }
      await this.#change();
    }
    refuseWith(
      new WorkcellError('store-unavailable', 'No replica of the service serves now. Try again in a moment.', {
        details: { retryAfterMs: 1000 },
      }),
    );
  }

  /** Waits until another replica serves, or for a moment. */
  async #change(): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, againMs);
      this.#waiting.add(wake);
    });
  }

  #tell(): void {
    for (const wake of this.#waiting) wake();
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
