/** What the native routes work with. */
import type { FastifyRequest } from 'fastify';
import type { Executor } from '../../protocol/index.js';
import type { Readiness, ServerInfo } from '../../protocol/wire.js';
import type { Calls } from './calls.js';
import type { Clients } from './clients.js';
import type { EventLog } from './event-log.js';
import type { Log, ServerLimits } from './executor-server-options.js';

export interface ServerContext {
  /** The executor of now. */
  executor(): Executor;
  /**
   * Ends everything that runs; a fresh executor takes its place where the server can make one. Where the server may
   * not end the executor, ends what the client started.
   */
  closeExecutor(client: string | undefined): Promise<void>;
  /**
   * Whether an action with a key of the client's is the first one. A server whose cell outlives it keeps the keys;
   * without this, they last as long as the server.
   */
  beginAction?(key: string): boolean | Promise<boolean>;
  /** Whether each capability of the cell works. */
  readiness(): Promise<Readiness>;
  readonly info: ServerInfo;
  readonly limits: ServerLimits;
  readonly calls: Calls;
  readonly clients: Clients;
  readonly events: EventLog;
  readonly counters: Counters;
  readonly log: Log;
}

/**
 * The context of the cell that a request is for: a server of one cell has one, a service one for each of its cells.
 */
export type ContextOf = (request: FastifyRequest) => ServerContext;

/** Plain numbers, so that counting costs nothing until somebody reads them. */
interface Counters {
  /** On a clock that does not jump. */
  readonly startedAt: number;
  requests: number;
  failures: number;
  connections: () => number;
  terminals: number;
  readonly actions: Map<string, number>;
}
