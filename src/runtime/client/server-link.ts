/** The way to one server: pooled connections, what every request carries, and when to try again. */

import { setMaxListeners } from 'node:events';
import type { Readable } from 'node:stream';
import { Pool } from 'undici';
import { parseJson } from '../../base/json.js';
import { protocolVersion, WorkcellError } from '../../protocol/index.js';
import { traceHeaders } from '../../protocol/tracing.js';
import {
  clientHeader,
  heartbeatMs,
  infoSchema,
  instanceHeader,
  type ServerInfo,
} from '../../protocol/wire.js';
import {
  disconnected,
  errorFrom,
  isAbsent,
  isForeign,
  isTlsTrouble,
  notAnExecutor,
  silent,
} from './client-failures.js';
import { type Connect, type Place, waysTo } from './connect-ways.js';
import { readText } from './read-body.js';

const defaultSilenceMs = 4 * heartbeatMs;

/** Retry for this long after the first failure; where nothing listens, only a few times. */
const retryMs = 10_000;
const triesWhenAbsent = 3;
const firstDelayMs = 25;
const longestDelayMs = 1000;

/** The time in which a server must identify itself. */
const handshakeMs = 10_000;

/** Where a process watches the server, the reason of its end follows soon after the connection breaks. */
const shutdownReportMs = 3000;

const errorBytes = 1024 * 1024;

export interface LinkOptions {
  readonly token?: string | undefined;
  /** Names this client to a server that it shares with others. */
  readonly client?: string | undefined;
  /** What the way to the server asks of every request, such as the token of a proxy. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Resolves with the reason when the server has certainly ended. */
  readonly gone?: Promise<string> | undefined;
  /** A connection without a sign of life for this long while an answer is due counts as dead. */
  readonly silenceMs?: number | undefined;
  /** While the cell is paused: settles when it resumes. Silence does not count meanwhile. */
  readonly halted?: (() => Promise<void> | undefined) | undefined;
}

export interface LinkRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly headers?: Record<string, string> | undefined;
  readonly body?: string | Readable | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How long the server may take to begin its answer. */
  readonly answerMs?: number | undefined;
  /** A status above 399 that is an answer like any other. */
  readonly accept?: number | undefined;
}

export interface LinkAnswer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Readable;
}

export class Link {
  readonly where: string;
  /** What the addresses of its routes begin with. */
  readonly address: string;
  readonly connect: Connect;
  /** Resolves with the reason when the server is out of reach for good. */
  readonly lost: Promise<string>;

  readonly #pool: Pool;
  readonly #base: string;
  readonly #token: string | undefined;
  readonly #client: string | undefined;
  readonly #extra: Readonly<Record<string, string>>;
  readonly #isLocal: boolean;
  readonly #halted: () => Promise<void> | undefined;
  readonly #watched: Promise<void> | undefined;
  readonly #gone = new AbortController();
  #reportLost = (_reason: string): void => {};
  #instance: string | undefined;
  #closed = false;

  constructor(place: Place, options: LinkOptions) {
    const { connect, origin, base, isLocal } = waysTo(place);
    this.address = `${origin}${base}`;
    this.where = 'socketPath' in place ? place.socketPath : this.address;
    this.#base = base;
    this.connect = connect;
    this.#isLocal = isLocal;
    this.#token = options.token;
    this.#client = options.client;
    this.#extra = options.headers ?? {};
    this.#halted = options.halted ?? (() => undefined);
    const { silenceMs = defaultSilenceMs } = options;
    this.lost = new Promise((resolve) => {
      this.#reportLost = resolve;
    });
    this.#pool = new Pool(origin, {
      connect: (_options, callback) => {
        connect().then(
          (socket) => callback(null, socket as Parameters<typeof callback>[1] & object),
          (error: Error) => callback(error, null),
        );
      },
      headersTimeout: silenceMs,
      bodyTimeout: silenceMs,
      pipelining: 1,
      allowH2: false,
    });
    // Every request in progress listens to it.
    setMaxListeners(0, this.#gone.signal);
    this.#watched = options.gone?.then((reason) => this.fail(reason));
  }

  /** Whether an executor has answered here. */
  wasThere(): boolean {
    return this.#instance !== undefined;
  }

  /** While the cell is paused: settles when it resumes. */
  halted(): Promise<void> | undefined {
    return this.#halted();
  }

  /** Headers that every request carries. */
  headers(): Record<string, string> {
    return {
      ...this.#extra,
      ...traceHeaders(),
      ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
      ...(this.#client !== undefined && { [clientHeader]: this.#client }),
      ...(this.#instance !== undefined && { [instanceHeader]: this.#instance }),
    };
  }

  /** Meets the server: checks that both speak the same version. */
  async handshake(signal?: AbortSignal): Promise<ServerInfo> {
    const late = AbortSignal.timeout(handshakeMs);
    const either = signal === undefined ? late : AbortSignal.any([signal, late]);
    const info = await this.retrying(async () => {
      const { status, body } = await this.request({ method: 'GET', path: '/v1/info', signal: either });
      return readInfo(status, await readText(body, errorBytes));
    }, either).catch(async (error: unknown) => {
      if (!late.aborted || signal?.aborted || !isCancelled(error)) throw error;
      const halted = this.#halted();
      if (halted === undefined) throw silent(this.where, handshakeMs, error);
      await halted;
      return undefined;
    });
    if (info === undefined) return this.handshake(signal);
    if (info.data === undefined) throw notAnExecutor(this.where);
    if (info.data.protocolVersion !== protocolVersion) {
      throw new WorkcellError(
        'version-mismatch',
        `The server at ${this.where} speaks protocol version ${info.data.protocolVersion} (workcell ${info.data.version}) and this client version ${protocolVersion}. Use the same release on both sides.`,
        { details: { server: info.data.protocolVersion, client: protocolVersion } },
      );
    }
    this.#instance = info.data.instance;
    return info.data;
  }

  /** One try. Throws the error that a refusal carries. */
  async request(request: LinkRequest): Promise<LinkAnswer> {
    const { method, path, headers, body, signal, answerMs, accept } = request;
    const {
      statusCode,
      headers: given,
      body: content,
    } = await this.#pool.request({
      method,
      path: `${this.#base}${path}`,
      headers: { ...this.headers(), ...headers },
      body: body ?? null,
      signal: signal === undefined ? this.#gone.signal : AbortSignal.any([signal, this.#gone.signal]),
      ...(answerMs !== undefined && { headersTimeout: answerMs }),
    });
    if (statusCode < 400 || statusCode === accept)
      return { status: statusCode, headers: given, body: content };
    const text = await readText(content, errorBytes);
    const error = errorFrom(statusCode, text, this.wasThere());
    // What only stands before the server may find it again.
    if (error.code === 'runtime-disconnected' && error.details.status === undefined) this.fail(error.message);
    throw error;
  }

  /**
   * Tries until it works. Does not retry a request that the server itself refused; retries a lost connection, with
   * growing pauses. `attempt` can call `alive` to report progress, which restarts the count.
   */
  async retrying<T>(attempt: (alive: () => void) => Promise<T>, signal?: AbortSignal): Promise<T> {
    let failures = 0;
    let since = 0;
    for (;;) {
      try {
        return await attempt(() => {
          failures = 0;
        });
      } catch (error) {
        this.#checkGone();
        if (WorkcellError.isInstance(error) && error.code !== 'rate-limited') throw error;
        if (signal?.aborted)
          throw new WorkcellError('cancelled', 'The request was cancelled.', { cause: error });
        const halted = this.#halted();
        if (halted !== undefined) {
          await halted;
          failures = 0;
          continue;
        }
        if (failures++ === 0) since = performance.now();
        const patience = isAbsent(error) ? (this.#isLocal ? 1 : triesWhenAbsent) : Number.POSITIVE_INFINITY;
        if (this.#instance === undefined && isForeign(error)) throw notAnExecutor(this.where, error);
        if (failures >= patience || isTlsTrouble(error) || performance.now() - since > retryMs) {
          await this.#awaitShutdownReport();
          const failure = WorkcellError.isInstance(error) ? error : disconnected(this.where, error);
          if (failure.code === 'runtime-disconnected') this.#reportLost(failure.message);
          throw failure;
        }
        const delayMs = Math.min(longestDelayMs, firstDelayMs * 2 ** (failures - 1));
        await new Promise((resolve) => setTimeout(resolve, delayMs));
      }
    }
  }

  /** Fails everything in progress: the server has ended. */
  fail(reason: string): void {
    if (this.#gone.signal.aborted) return;
    this.#reportLost(reason);
    this.#gone.abort(new WorkcellError('runtime-disconnected', reason, { details: { server: this.where } }));
    void this.#pool.destroy().catch(() => {});
  }

  /** Lets requests in progress end for a time, then closes the connections. */
  async close(patienceMs: number): Promise<void> {
    this.#closed = true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, patienceMs);
    });
    await Promise.race([this.#pool.close().catch(() => {}), late]);
    clearTimeout(timer);
    await this.#pool.destroy().catch(() => {});
  }

  /** Waits for the shutdown report of the server, which is a better reason to throw. */
  async #awaitShutdownReport(): Promise<void> {
    if (this.#watched === undefined) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, shutdownReportMs);
    });
    await Promise.race([this.#watched, late]);
    clearTimeout(timer);
    this.#checkGone();
  }

  #checkGone(): void {
    const { aborted, reason } = this.#gone.signal;
    if (aborted) throw reason;
    if (this.#closed) throw new WorkcellError('runtime-closed', 'The cell is closed; start a new one.');
  }
}

/** A server's description of itself; a web page, or a redirect to another place, is none. */
function readInfo(status: number, text: string): ReturnType<typeof infoSchema.safeParse> {
  try {
    return infoSchema.safeParse(status === 200 ? parseJson(text) : undefined);
  } catch {
    return infoSchema.safeParse(undefined);
  }
}

function isCancelled(error: unknown): boolean {
  return WorkcellError.isInstance(error) && error.code === 'cancelled';
}
