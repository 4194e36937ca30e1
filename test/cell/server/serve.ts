/** Servers for tests: a real executor on a temporary workspace, on a port or a socket. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LoadedPlugin } from '../../../src/cell/plugins/load-plugins.js';
import type { ServeOptions } from '../../../src/cell/server/executor-server-options.js';
import type { ExecutorServer } from '../../../src/cell/server/serve-executor.js';
import { startServer } from '../../../src/cell/server/start-server.js';

export const token = 'a-token-for-tests-only';

export interface TestServer extends AsyncDisposable {
  readonly server: ExecutorServer;
  readonly workspace: string;
  /** Address as the `remote` backend takes it. */
  readonly url: string;
  readonly port: number;
  readonly socketPath: string;
}

export async function serve(
  options: Partial<ServeOptions> & { over?: 'tcp' | 'unix'; plugins?: readonly LoadedPlugin[] } = {},
): Promise<TestServer> {
  const { over = 'tcp', ...rest } = options;
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'served-')));
  const workspace = mkdtempSync(join(folder, 'workspace-'));
  const socketPath = join(folder, 'socket');
  const server = await startServer({
    listen: over === 'unix' ? { path: socketPath } : { host: '127.0.0.1', port: 0 },
    token,
    workspace,
    environment: { ...(process.env as Record<string, string>), PAGER: 'cat', GIT_PAGER: 'cat' },
    ...rest,
  }).catch((error: unknown) => {
    rmSync(folder, { recursive: true });
    throw error;
  });
  const port = 'port' in server.address ? server.address.port : 0;
  return {
    server,
    workspace,
    socketPath,
    port,
    url: over === 'unix' ? `unix:${socketPath}` : `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const authorized = { authorization: `Bearer ${token}`, host: 'localhost' };
