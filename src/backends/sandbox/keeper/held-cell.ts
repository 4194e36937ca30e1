/** One cell in a keeper: a sandbox with its executor, served at its own socket. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import { loadPlugins } from '../../../cell/plugins/load-plugins.js';
import { withPlugins } from '../../../cell/plugins/plugin-host.js';
import { serveExecutor } from '../../../cell/server/serve-executor.js';
import { startError } from '../../../cell/server/start-error.js';
import { logToStandardError } from '../../../cell/server/stderr-log.js';
import { WorkcellError } from '../../../protocol/index.js';
import { startSandbox } from '../start-sandbox.js';
import { HeldNetwork } from './held-network.js';
import { type CellRequest, cellRequestSchema, type StartRequest } from './keeper-messages.js';
import { cellHome, markPaused, removeCellHome, writeState } from './kept-cell-home.js';
import { listenForLines, sayLine } from './lines.js';

export interface HeldCell {
  /** Tells this connection when the cell ends by itself. */
  watch(socket: Socket): void;
  /** Ends it and leaves nothing behind. Succeeds when called twice. */
  stop(): Promise<void>;
  /** Settles when the cell has ended, for whatever reason. */
  readonly over: Promise<void>;
}

export async function holdCell(request: StartRequest): Promise<HeldCell> {
  const { id, token, keepAlive, options, caller } = request;
  const home = cellHome(id);
  const plugins = await loadPlugins(request.plugins);
  let network: HeldNetwork | undefined;
  const networkSecrets = request.secrets.map((secret) => ({
    ...secret,
    value: async () => network?.valueOf(secret),
  }));
  const { launcher, ...cell } = await startSandbox(options, { caller, networkSecrets });
  const executor = withPlugins(cell.executor, launcher, plugins);
  network = cell.network && new HeldNetwork(cell.network);
  const watchers = new Set<Socket>();
  let onOver = () => {};
  const over = new Promise<void>((resolve) => {
    onOver = resolve;
  });
  const undo: (() => unknown)[] = [() => cell.stop(), () => executor.close()];
  let stopping: Promise<void> | undefined;
  let thaw: Promise<() => void> | undefined;

  /** A paused cell ends as it is: the kernel kills stopped processes too. */
  function stop(): Promise<void> {
    stopping ??= (async () => {
      try {
        for (const step of undo) await step();
        await removeCellHome(home);
      } finally {
        // Settle it whatever failed, because the keeper depends on it.
        for (const socket of watchers) socket.end();
        network?.close();
        onOver();
      }
    })();
    return stopping;
  }

  /** When a cell ended by itself, the next process that attaches learns it and removes its remains. */
  async function lose(reason: string): Promise<void> {
    if (stopping !== undefined) return;
    stopping = (async () => {
      for (const socket of watchers) sayLine(socket, { ended: reason });
      for (const step of undo) await step();
      for (const socket of watchers) socket.end();
      network?.close();
      onOver();
    })();
    await stopping;
  }

  const asks: Record<CellRequest['ask'], (socket: Socket) => Promise<void> | void> = {
    watch: (socket) => watch(socket),
    network() {
      if (network !== undefined) return;
      throw new WorkcellError('capability-unsupported', 'This cell was started without network rules.', {
        details: { capability: 'network' },
      });
    },
    async pause() {
      thaw ??= launcher.freeze();
      await thaw.catch((error: unknown) => {
        thaw = undefined;
        throw error;
      });
      markPaused(home, true);
    },
    async resume() {
      (await thaw)?.();
      thaw = undefined;
      markPaused(home, false);
    },
    stop,
  };

  function watch(socket: Socket): void {
    watchers.add(socket);
    socket.once('close', () => watchers.delete(socket));
  }

  async function answer(given: unknown, socket: Socket): Promise<void> {
    const { data } = cellRequestSchema.safeParse(given);
    try {
      if (data === undefined || !isSame(data.token, token))
        throw new WorkcellError('unauthorized', 'The request to the keeper carries no valid token.');
      await asks[data.ask](socket);
      sayLine(socket, { ready: true });
      if (data.ask === 'network') return network?.serve(socket);
      if (data.ask === 'watch') return;
    } catch (error) {
      sayLine(socket, { error: startError(error) });
    }
    socket.end();
  }

  try {
    const server = await serveExecutor(executor, {
      id,
      token,
      workspace: cell.workspace,
      isolation: cell.isolation,
      listen: { path: home.socket },
      log: logToStandardError,
    });
    undo.push(() => server.close('detach'));
    const control = await listenForLines(home.control, (given, socket) => void answer(given, socket));
    undo.push(() => control.close());
    const workspace = options.workspace ?? home.workspace;
    writeState(home, {
      id,
      token,
      keepAlive,
      workspace,
      isolation: cell.isolation,
      isRuled: network !== undefined,
    });
  } catch (error) {
    await stop();
    throw error;
  }
  void cell.lost?.then(lose);
  return { watch, stop, over };
}

/** Hash both sides, so that the time shows neither content nor length. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
