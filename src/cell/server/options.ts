/** What a server is started with, and the limits it keeps to. */
import type { FastifyInstance } from 'fastify';
import type { Executor, Isolation } from '../../protocol/index.js';

export type ListenAddress = { readonly path: string } | { readonly host: string; readonly port: number };

export type Log = (
  level: 'error' | 'warn' | 'info' | 'debug',
  message: string,
  fields?: Record<string, unknown>,
) => void;

export interface ServerLimits {
  /** Of a JSON body. Uploads are streams and have no limit here. */
  readonly bodyBytes: number;
  readonly headerBytes: number;
  readonly jsonDepth: number;
  /** In which the head of a request, a whole JSON body, or the next piece of an upload must arrive. */
  readonly requestMs: number;
  readonly connections: number;
  readonly runningActions: number;
  readonly requestsPerSecond: number;
  /** How many requests may come at once before the rate counts. */
  readonly burst: number;
  /** A reader that takes nothing for so long is cut off. */
  readonly stallMs: number;
  /** An action whose client went away goes on for so long, so that it can be resumed; then it is cancelled. */
  readonly graceMs: number;
  readonly heartbeatMs: number;
  /** Ended actions are kept for repeated requests: so many, so long, with so many bytes of results. */
  readonly keptActions: number;
  readonly keptMs: number;
  readonly keptBytes: number;
}

export interface ServeOptions {
  readonly listen: ListenAddress;
  /** Every request must carry it. Only a Unix socket works without one. */
  readonly token?: string | undefined;
  /** Further headers, in lower case, that may carry the token, for clients of other protocols. */
  readonly tokenHeaders?: readonly string[] | undefined;
  /** Allows an address that is not loopback. */
  readonly allowRemote?: boolean | undefined;
  /** Host names, besides loopback ones, that requests may be addressed to. */
  readonly hosts?: readonly string[] | undefined;
  /** Origins that browsers may send requests from. Default: none. */
  readonly origins?: readonly string[] | undefined;
  /** Name of the cell. Default: random. */
  readonly id?: string | undefined;
  /** As seen from inside. */
  readonly workspace: string;
  readonly isolation: Isolation;
  readonly limits?: Partial<ServerLimits> | undefined;
  readonly log?: Log | undefined;
  /** Adds routes of other protocols. They share the limits and the checks of token, Host and Origin. */
  readonly extend?: ((app: FastifyInstance, server: ServerParts) => void | Promise<void>) | undefined;
}

/** What added routes may use. */
export interface ServerParts {
  /** The executor of now; ask for it at each request. */
  executor(): Executor;
  readonly id: string;
  readonly workspace: string;
}

export const defaultLimits: ServerLimits = {
  bodyBytes: 32 * 1024 * 1024,
  headerBytes: 16 * 1024,
  jsonDepth: 64,
  requestMs: 30_000,
  connections: 4096,
  runningActions: 1024,
  requestsPerSecond: 50_000,
  burst: 100_000,
  stallMs: 30_000,
  graceMs: 60_000,
  heartbeatMs: 5000,
  keptActions: 1000,
  keptMs: 300_000,
  keptBytes: 64 * 1024 * 1024,
};
