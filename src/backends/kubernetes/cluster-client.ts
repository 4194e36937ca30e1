/** The part of the Kubernetes API that Workcell uses: plain HTTPS with JSON, and WebSockets. */
import { type IncomingMessage, Agent as PlainAgent, request as requestPlain } from 'node:http';
import { request as requestTls, Agent as TlsAgent } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { answerPings } from '../../base/pings.js';
import { WorkcellError } from '../../protocol/index.js';
import { type Cluster, type ClusterPlace, type Credentials, findCluster } from './kubeconfig.js';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type Query = Readonly<Record<string, string | number | boolean | undefined>>;

interface Call {
  readonly query?: Query | undefined;
  /** Sent as JSON. PATCH merges an object into the existing one, and applies a list as a JSON Patch. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** Without any byte for this long the connection counts as dead. */
  readonly silenceMs?: number | undefined;
}

/** The API server answered with a refusal. */
export class ClusterRefusal extends Error {
  constructor(
    readonly status: number,
    /** A reason of Kubernetes: NotFound, Forbidden, Invalid, … */
    readonly reason: string,
    message: string,
  ) {
    super(message);
  }
}

/** Undefined where the cluster refuses with this status. */
export async function unless<Answer>(status: number, answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ClusterRefusal && error.status === status) return undefined;
    throw error;
  }
}

const answerMs = 30_000;
/** Before another try to create an object. */
const longestPauseMs = 200;
const largestMessage = 4 * 1024 * 1024;

const clients = new Map<string, ClusterClient>();

/** One client for each place, so that all cells there share its connections. */
export function openCluster(place: ClusterPlace): ClusterClient {
  const { HOME, KUBECONFIG, KUBERNETES_SERVICE_HOST } = process.env;
  const key = JSON.stringify([place.kubeconfig, place.context, HOME, KUBECONFIG, KUBERNETES_SERVICE_HOST]);
  const client = clients.get(key) ?? new ClusterClient(findCluster(place));
  clients.set(key, client);
  return client;
}

/** Speaks to one cluster. */
export class ClusterClient {
  readonly #cluster: Cluster;
  #agent: { readonly key: string; readonly agent: PlainAgent } | undefined;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  get where(): string {
    return this.#cluster.server.origin;
  }

  /** Of the context, or of the pod that this program runs in. */
  get namespace(): string {
    return this.#cluster.namespace ?? 'default';
  }

  /** For a request with a JSON answer. */
  async ask<Answer>(method: Method, path: string, call: Call = {}): Promise<Answer> {
    const answer = await this.open(method, path, { silenceMs: answerMs, ...call });
    const said = await text(answer).catch((error: Error) => {
      throw this.#unreachable(error, call.signal);
    });
    try {
      return JSON.parse(said) as Answer;
    } catch (cause) {
      throw new WorkcellError(
        'backend-unavailable',
        `${this.where} does not answer as a cluster does, but with: ${said.slice(0, 200)}. Check the server in the kubeconfig; a proxy may ask for a login.`,
        { details: { server: this.where }, cause },
      );
    }
  }

  /**
   * Creates an object. Starts at once may charge the same quota, and then the server asks all but one of them to try
   * again.
   */
  async create<Made>(
    path: string,
    body: unknown,
    { signal, tries = 6 }: { readonly signal?: AbortSignal | undefined; readonly tries?: number } = {},
  ): Promise<Made> {
    try {
      return await this.ask<Made>('POST', path, { body, signal });
    } catch (error) {
      const isRace = error instanceof ClusterRefusal && error.reason === 'Conflict';
      if (!isRace || tries === 1 || signal?.aborted) throw error;
    }
    // Different for each, so that they do not meet again.
    await setTimeout(Math.random() * longestPauseMs);
    return this.create(path, body, { signal, tries: tries - 1 });
  }

  /**
   * For a request whose answer is a stream. Rejects with a ClusterRefusal, or with `backend-unavailable` where
   * nothing answers.
   */
  open(method: Method, path: string, call: Call = {}): Promise<IncomingMessage> {
    return this.#authorized((credentials) => this.#open(method, path, call, credentials));
  }

  async #open(
    method: Method,
    path: string,
    call: Call,
    { headers, tls }: Credentials,
  ): Promise<IncomingMessage> {
    const { query, body, signal, silenceMs } = call;
    const { server } = this.#cluster;
    const content = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = (server.protocol === 'https:' ? requestTls : requestPlain)(this.#address(path, query), {
        method,
        agent: this.#agentFor(tls),
        headers: {
          ...headers,
          accept: 'application/json',
          ...(content !== undefined && {
            // Node sends none of its own with DELETE, and the server would take the body for the next request.
            'content-length': content.length,
            'content-type': method === 'PATCH' ? patchType(body) : 'application/json',
          }),
        },
        ...(signal !== undefined && { signal }),
      });
      request.once('response', resolve);
      request.on('error', (error) => reject(this.#unreachable(error, signal)));
      if (silenceMs !== undefined)
        request.setTimeout(silenceMs, () => request.destroy(new Error(`no answer within ${silenceMs} ms`)));
      request.end(content);
    });
    const { statusCode = 0 } = answer;
    if (statusCode < 400) return answer;
    throw refusalIn(statusCode, await text(answer));
  }

  /** A WebSocket to a part of a pod. */
  connect(path: string, protocols: readonly string[], query: URLSearchParams): Promise<WebSocket> {
    return this.#authorized((credentials) => this.#connect(path, protocols, query, credentials));
  }

  async #connect(
    path: string,
    protocols: readonly string[],
    query: URLSearchParams,
    { headers, tls }: Credentials,
  ): Promise<WebSocket> {
    const address = this.#address(path);
    address.protocol = address.protocol.replace('http', 'ws');
    address.search = query.toString();
    const socket = new WebSocket(address, [...protocols], {
      headers: headers as Record<string, string>,
      ...tls,
      perMessageDeflate: false,
      maxPayload: largestMessage,
      handshakeTimeout: answerMs,
      skipUTF8Validation: true,
      autoPong: false,
    });
    answerPings(socket);
    return new Promise((resolve, reject) => {
      // Do not lose messages that arrive before anybody listens.
      socket.once('open', () => {
        socket.pause();
        resolve(socket);
      });
      socket.once('unexpected-response', (_request, answer) => {
        text(answer).then((said) => reject(refusalIn(answer.statusCode ?? 0, said)), reject);
      });
      socket.on('error', (error) => reject(this.#unreachable(error)));
    });
  }

  /** Tries once more with new credentials, where a program gives them: it does not always know when they end. */
  async #authorized<Answer>(request: (credentials: Credentials) => Promise<Answer>): Promise<Answer> {
    const credentials = await this.#cluster.credentials();
    try {
      return await request(credentials);
    } catch (error) {
      const { drop } = credentials;
      if (drop === undefined || !(error instanceof ClusterRefusal && error.status === 401)) throw error;
      drop();
    }
    return request(await this.#cluster.credentials());
  }

  #address(path: string, query: Query = {}): URL {
    const { server } = this.#cluster;
    const address = new URL(`${server.origin}${server.pathname.replace(/\/+$/, '')}${path}`);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) address.searchParams.set(name, String(value));
    return address;
  }

  /** The same connections as long as the certificates are the same. */
  #agentFor(tls: Credentials['tls']): PlainAgent {
    const key = JSON.stringify(Object.entries(tls).map(([name, value]) => [name, String(value)]));
    if (this.#agent?.key !== key) {
      const isTls = this.#cluster.server.protocol === 'https:';
      this.#agent?.agent.destroy();
      const agent = isTls ? new TlsAgent({ ...tls, keepAlive: true }) : new PlainAgent({ keepAlive: true });
      this.#agent = { key, agent };
    }
    return this.#agent.agent;
  }

  #unreachable(cause: Error, signal?: AbortSignal): Error {
    if (signal?.aborted)
      return new WorkcellError('cancelled', 'The request to the cluster was cancelled.', { cause });
    return new WorkcellError(
      'backend-unavailable',
      `The cluster at ${this.where} does not answer: ${cause.message}. Check the kubeconfig and the network.`,
      { details: { server: this.where }, cause },
    );
  }
}

function patchType(body: unknown): string {
  return Array.isArray(body) ? 'application/json-patch+json' : 'application/merge-patch+json';
}

function refusalIn(status: number, said: string): ClusterRefusal {
  try {
    const { reason, message } = JSON.parse(said) as { reason?: unknown; message?: unknown };
    return new ClusterRefusal(status, String(reason ?? ''), String(message ?? said).slice(0, 4000));
  } catch {
    return new ClusterRefusal(status, '', said.slice(0, 500) || `status ${status}`);
  }
}
