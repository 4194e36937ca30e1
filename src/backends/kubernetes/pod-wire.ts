/** The connection to the executor in a pod: one forwarded port, which carries as many connections as necessary. */
import { openTunnel, type Tunnel } from '../../runtime/client/tunnel.js';
import type { StartContext } from '../backend.js';
import { type ReachOptions, reachExecutor } from '../executor-program.js';
import { forwardPort } from './channels.js';
import type { ClusterClient } from './cluster-client.js';
import { tunnelPort } from './pod.js';

export interface PodWire {
  readonly reached: Awaited<ReturnType<typeof reachExecutor>>;
  close(): void;
}

/** Call it when the executor listens. When the forwarded port breaks, the next connection opens another one. */
export async function openPodWire(
  client: ClusterClient,
  pod: { readonly namespace: string; readonly name: string },
  options: ReachOptions & { readonly token: string },
  context: StartContext,
): Promise<PodWire> {
  let current: Promise<Tunnel> | undefined;
  const open = async (): Promise<Tunnel> =>
    openTunnel(await forwardPort(client, pod, tunnelPort), options.token);
  /** When many ask at once, one opens it. */
  const share = (): Promise<Tunnel> => {
    const opening = open();
    const forget = () => {
      if (current === opening) current = undefined;
    };
    opening.then(({ closed }) => closed.then(forget), forget);
    return opening;
  };
  const connect = async () => {
    current ??= share();
    return (await current).connect();
  };
  const close = () => {
    void current?.then(
      (tunnel) => tunnel.close(),
      () => {},
    );
  };
  try {
    return { reached: await reachExecutor({ connect }, options, context), close };
  } catch (error) {
    close();
    throw error;
  }
}
