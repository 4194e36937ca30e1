/** Starts a server that clients of the OpenHands V1 agent-server can use. */
import type { ServeOptions } from '../../cell/server/executor-server-options.js';
import { type ExecutorServer, serveExecutor } from '../../cell/server/serve-executor.js';
import type { Executor } from '../../protocol/index.js';
import { type FacadeOptions, openHandsV1 } from './facade.js';
import { keyHeader } from './session-key-check.js';

export type OpenHandsV1Options = FacadeOptions & Omit<ServeOptions, 'token' | 'tokenHeaders' | 'extend'>;

/** The session keys also open the native routes, which the same server answers. */
export function serveOpenHandsV1(executor: Executor, options: OpenHandsV1Options): Promise<ExecutorServer> {
  const { sessionApiKeys, vscode, messages, ...server } = options;
  return serveExecutor(executor, {
    ...server,
    token: sessionApiKeys,
    tokenHeaders: [keyHeader],
    extend: openHandsV1({ sessionApiKeys, vscode, messages, log: server.log }),
  });
}
