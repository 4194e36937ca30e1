/** Serves a cell to clients of OpenHands V0. */
import type { AddressInfo } from 'node:net';
import { isLoopback } from '../../cell/server/access.js';
import { type Executor, WorkcellError } from '../../protocol/index.js';
import { createOpenHandsApp, type OpenHandsOptions } from './app.js';

export interface ServeOpenHandsOptions extends OpenHandsOptions {
  readonly host: string;
  readonly port: number;
  /** Does without a key, so that all who reach the port may use it. */
  readonly allowAnonymous?: boolean | undefined;
}

export interface OpenHandsServer {
  /** The real one when 0 was asked for. */
  readonly port: number;
  /** Leaves the executor as it is. Succeeds when called twice. */
  close(): Promise<void>;
}

/** Listens only when everything works, because clients take an open port for a server that is ready. */
export async function serveOpenHands(
  executor: Executor,
  options: ServeOpenHandsOptions,
): Promise<OpenHandsServer> {
  checkExposure(options);
  const hosts = [...(options.hosts ?? []), options.host];
  const app = createOpenHandsApp(executor, { ...options, hosts });
  try {
    await app.listen({ host: options.host, port: options.port });
  } catch (cause) {
    if (WorkcellError.isInstance(cause)) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WorkcellError(
      'backend-unavailable',
      `The server cannot listen on ${options.host}:${options.port}: ${reason}.`,
      { cause },
    );
  }
  let closing: Promise<void> | undefined;
  return {
    port: (app.server.address() as AddressInfo).port,
    close() {
      closing ??= app.close();
      return closing;
    },
  };
}

function checkExposure({ host, sessionApiKey, allowAnonymous }: ServeOpenHandsOptions): void {
  if (sessionApiKey !== undefined || allowAnonymous) return;
  const reach = isLoopback(host) ? 'every user of this machine' : 'others';
  throw new WorkcellError(
    'invalid-config',
    `Listening on ${host} without a key would let ${reach} run commands here. Set SESSION_API_KEY.`,
    { details: { host } },
  );
}
