/** The limits of a server that its command line can set; it leaves out those that no user needs there. */
import { type Command, InvalidArgumentError } from 'commander';
import { parseSeconds } from '../../base/command-line.js';
import type { ServerLimits } from './executor-server-options.js';

export interface LimitOptions {
  maxBody?: number;
  maxConnections?: number;
  maxActions?: number;
  maxRate?: number;
  requestTimeout?: number;
  grace?: number;
}

export function withLimitOptions(command: Command): Command {
  return command
    .option('--max-body <MiB>', 'size of a JSON body (default: 32)', parseCount)
    .option('--max-connections <number>', 'connections at a time (default: 4096)', parseCount)
    .option('--max-actions <number>', 'actions under way at a time (default: 1024)', parseCount)
    .option('--max-rate <number>', 'requests a second, twice as many at once (default: 50000)', parseCount)
    .option('--request-timeout <seconds>', 'time for a request to arrive (default: 30)', parseSeconds)
    .option('--grace <seconds>', 'how long an action goes on without its client (default: 60)', parseSeconds);
}

/** Returns only the given ones; the server knows the rest. */
export function limitsFrom(options: LimitOptions): Partial<ServerLimits> {
  const { maxBody, maxConnections, maxActions, maxRate, requestTimeout, grace } = options;
  return {
    ...(maxBody !== undefined && { bodyBytes: maxBody * 1024 * 1024 }),
    ...(maxConnections !== undefined && { connections: maxConnections }),
    ...(maxActions !== undefined && { runningActions: maxActions }),
    ...(maxRate !== undefined && { requestsPerSecond: maxRate, burst: 2 * maxRate }),
    ...(requestTimeout !== undefined && { requestMs: requestTimeout }),
    ...(grace !== undefined && { graceMs: grace }),
  };
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('Give a whole number above 0.');
  return Number(text);
}
