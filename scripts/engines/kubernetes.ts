/** Starts the cluster of `kubernetes` in this folder, for tests and benchmarks. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { executorBundle } from '../../src/backends/images/bundle/executor-bundle.js';

export interface KubernetesCluster {
  /** Path of a file with the credentials of its administrator. */
  readonly kubeconfig: string;
  /** A process in the network of the cluster, where the addresses of pods are. */
  readonly networkPid: number;
}

export interface OwnKubernetesCluster extends KubernetesCluster {
  /** Kills the API server; the pods continue. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** The smallest image there is, one with the programs that the tests use and the executor, and one with the executor alone. */
export const clusterImages = {
  bare: 'debian:bookworm',
  tools: 'workcell-test:latest',
  executor: 'workcell-executor:latest',
} as const;

/** Starts a cluster. It ends with this process at the latest. */
export async function startKubernetesCluster(): Promise<OwnKubernetesCluster> {
  const { directory } = await executorBundle();
  const child = spawn(fileURLToPath(new URL('kubernetes', import.meta.url)), {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, EXECUTOR: directory },
  });
  const said = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    complaint += piece;
  });
  const exited = once(child, 'exit');
  const expectWord = async (word: string) => {
    const { value = '', done } = await said.next();
    if (!done && value.startsWith(word)) return value.slice(word.length).trim();
    child.stdin.end();
    await exited;
    throw new Error(
      `The cluster did not start. ./scripts/setup --tests installs what it needs. ${complaint}`,
    );
  };
  const networkPid = Number(await expectWord('pid'));
  const [kubeconfig = '', socketPath = ''] = (await expectWord('ready')).split(' ');
  const forwarded = await forwardPort(socketPath);
  writeFileSync(kubeconfig, readFileSync(kubeconfig, 'utf8').replace(':6443', `:${forwarded.port}`));
  return {
    kubeconfig,
    networkPid,
    async kill() {
      child.stdin.write('kill\n');
      await expectWord('killed');
    },
    async restart() {
      child.stdin.write('start\n');
      await expectWord('started');
    },
    async stop() {
      forwarded.close();
      child.stdin.end();
      await exited;
    },
  };
}

/** The cluster has a network of its own; this port of the loopback leads to its API server. */
async function forwardPort(socketPath: string): Promise<{ port: number; close(): void }> {
  const server = createServer((near) => {
    const far = connect(socketPath);
    for (const socket of [near, far]) {
      socket.setNoDelay(true);
      socket.on('error', () => {
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far).pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}
