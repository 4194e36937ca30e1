/** The options of a server, and the limits that it keeps. */
import type { FastifyInstance } from 'fastify';
import type { Mount } from '../../base/http/http-app.js';
import {
  defaultHttpLimits,
  type Exposure,
  type HttpLimits,
  type ListenAddress,
  type Log,
} from '../../base/http/http-options.js';
import type { Executor, Isolation } from '../../protocol/index.js';

export type { ListenAddress, Log };

export interface ServerLimits extends HttpLimits {
  readonly runningActions: number;
  /** An action continues this long without its client, so that the client can resume; then the server cancels it. */
  readonly graceMs: number;
  readonly heartbeatMs: number;
  /** Keep ended actions for repeated requests: this many, this long, with this many bytes of results. */
  readonly keptActions: number;
  readonly keptMs: number;
  readonly keptBytes: number;
}

export interface ServeOptions extends Exposure {
  /** Further headers, in lower case, that may carry the token, for clients of other protocols. */
  readonly tokenHeaders?: readonly string[] | undefined;
  /** Name of the cell. Default: random. */
  readonly id?: string | undefined;
  /** As seen from inside. */
  readonly workspace: string;
  readonly isolation: Isolation;
  readonly limits?: Partial<ServerLimits> | undefined;
  readonly log?: Log | undefined;
  /** Other protocols on the same address. */
  readonly also?: readonly Mount[] | undefined;
  /** Adds routes of other protocols. They share the limits and the checks of token, Host and Origin. */
  readonly extend?: ((app: FastifyInstance, server: ServerParts) => void | Promise<void>) | undefined;
}

/** What added routes may use. */
export interface ServerParts {
  /** The current executor; ask for it at each request. */
  executor(): Executor;
  readonly id: string;
  readonly workspace: string;
}

export const defaultLimits: ServerLimits = {
  ...defaultHttpLimits,
  runningActions: 1024,
  graceMs: 60_000,
  heartbeatMs: 5000,
  keptActions: 1000,
  keptMs: 300_000,
  keptBytes: 64 * 1024 * 1024,
};
