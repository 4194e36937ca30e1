/**
 * The connection to the executor in a container: a socket that both sides see, or else the streams of a program
 * inside.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { connectToSocket } from '../../cell/launchers/unix-sockets.js';
import type { ActionTable } from '../../protocol/index.js';
import type { ServerInfo } from '../../protocol/wire.js';
import { connectExecutor, type HttpExecutor } from '../../runtime/client/http-executor.js';
import { openTunnel } from '../../runtime/client/tunnel.js';
import { demultiplex } from '../engines/demultiplex.js';
import type { Container } from '../engines/docker-client.js';
import type { ExecutorBundle } from '../images/bundle/executor-bundle.js';
import { socketInside } from './container.js';

export interface Wire {
  readonly executor: HttpExecutor;
  readonly info: ServerInfo;
  close(): void;
}

export interface WireOptions {
  /** The directory of this machine that the cell sees too. */
  readonly directory: string;
  readonly bundle: ExecutorBundle;
  /** The user that the executor runs as. */
  readonly executor: number;
  /** Resolves with the reason when the container has certainly ended. */
  readonly gone?: Promise<string> | undefined;
  readonly halted?: (() => Promise<void> | undefined) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** What the executor can do. */
  readonly actions: ActionTable;
}

/** Call it when the executor listens. */
export async function openWire(container: Container, options: WireOptions): Promise<Wire> {
  const { gone, halted, signal, actions } = options;
  const socketPath = join(options.directory, 's');
  // gVisor, or an engine on another machine, does not share sockets with us.
  if (existsSync(socketPath)) {
    // Follows no link: where commands run as the executor's user, one could lead to a socket of this machine.
    const connect = () => connectToSocket(socketPath);
    return { ...(await connectExecutor({ connect }, { gone, halted, signal, actions })), close: () => {} };
  }
  const argv = [...options.bundle.command(), 'relay', socketInside];
  const streams = await container.exec({ Cmd: argv, User: `${options.executor}:${options.executor}` });
  const { connect, close } = openTunnel(demultiplex(streams, () => {}));
  try {
    return { ...(await connectExecutor({ connect }, { gone, halted, signal, actions })), close };
  } catch (error) {
    close();
    throw error;
  }
}
