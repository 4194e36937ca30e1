/** Namespaces and credentials of the test cluster. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { parse, stringify } from 'yaml';
import { type ClusterClient, openCluster } from '../../../src/backends/kubernetes/cluster-client.js';

/** A new namespace that has its service account, as pods need it. */
export async function makeNamespace(
  client: ClusterClient,
  labels: Record<string, string> = {},
): Promise<string> {
  const name = `test-${randomBytes(6).toString('hex')}`;
  await client.ask('POST', '/api/v1/namespaces', { body: { metadata: { name, labels } } });
  const accounts = await client.open('GET', `/api/v1/namespaces/${name}/serviceaccounts`, {
    query: { watch: true, resourceVersion: 0 },
  });
  for await (const chunk of accounts) if (String(chunk).includes('"name":"default"')) break;
  return name;
}

type Kubeconfig = {
  clusters: { cluster: { server: string } }[];
  users: { name: string; user: Record<string, unknown> }[];
};

const made: string[] = [];
// The runner kills its processes, so what waits for their exit does not happen.
afterAll(() => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true });
});

/** The kubeconfig of the administrator, changed. */
export function changedKubeconfig(kubeconfig: string, change: (config: Kubeconfig) => void): string {
  const config = parse(readFileSync(kubeconfig, 'utf8')) as Kubeconfig;
  change(config);
  const directory = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
  made.push(directory);
  const path = join(directory, 'config');
  writeFileSync(path, stringify(config), { mode: 0o600 });
  return path;
}

/** The administrator's client, which sees what cells leave. */
export function adminOf(kubeconfig: string): ClusterClient {
  return openCluster({ kubeconfig });
}

export interface Cut {
  readonly kubeconfig: string;
  /** Ends all connections and refuses new ones. */
  down(): void;
  up(): Promise<void>;
  close(): void;
}

/** A way to the API server that can be cut, as a restart of it does. */
export async function cuttable(kubeconfig: string): Promise<Cut> {
  const { server } = (parse(readFileSync(kubeconfig, 'utf8')) as Kubeconfig).clusters[0]?.cluster ?? {
    server: '',
  };
  const target = Number(new URL(server).port);
  const sockets = new Set<Socket>();
  const proxy = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.once('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far).pipe(near);
  });
  const listen = (port: number) => new Promise<void>((resolve) => proxy.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = proxy.address() as AddressInfo;
  const down = () => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  };
  return {
    kubeconfig: changedKubeconfig(kubeconfig, ({ clusters }) => {
      if (clusters[0] !== undefined) clusters[0].cluster.server = `https://127.0.0.1:${port}`;
    }),
    down,
    up: () => listen(port),
    close: down,
  };
}
