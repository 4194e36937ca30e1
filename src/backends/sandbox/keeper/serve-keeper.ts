/** The keeper: one process for each owner that holds the executors of many cells, so that no owner's process has to. */
import type { Socket } from 'node:net';
import { startError } from '../../../cell/server/start-error.js';
import { describeIssues, WorkcellError } from '../../../protocol/index.js';
import { type HeldCell, holdCell } from './held-cell.js';
import { startSchema } from './keeper-messages.js';
import { listenForLines, sayLine } from './lines.js';

/** How long a keeper without a cell waits for the next one. */
const graceMs = 1000;

/** Settles when it listens. It ends with its last cell. */
export async function serveKeeper(socketPath: string): Promise<void> {
  const cells = new Set<HeldCell>();
  let starting = 0;
  let timer: NodeJS.Timeout | undefined;

  const server = await listenForLines(socketPath, (given, socket) => {
    starting++;
    clearTimeout(timer);
    void start(given, socket).finally(() => {
      starting--;
      restWhenEmpty();
    });
  });

  async function start(given: unknown, socket: Socket): Promise<void> {
    try {
      const { data, error } = startSchema.safeParse(given);
      if (error !== undefined)
        throw new WorkcellError(
          'invalid-config',
          `The request to the keeper is not valid: ${describeIssues(error)}.`,
        );
      const cell = await holdCell(data);
      cells.add(cell);
      void cell.over.then(() => {
        cells.delete(cell);
        restWhenEmpty();
      });
      // The client cancelled or died before the handshake, so nobody needs the cell.
      if (socket.destroyed) return await cell.stop();
      cell.watch(socket);
      if (!data.keepAlive) socket.once('close', () => void cell.stop());
      sayLine(socket, { ready: true });
    } catch (error) {
      sayLine(socket, { error: startError(error) });
      socket.end();
    }
  }

  function restWhenEmpty(): void {
    clearTimeout(timer);
    if (cells.size > 0 || starting > 0) return;
    timer = setTimeout(() => void end(0), graceMs);
  }

  /** Kept cells end with their keeper too: no other process could hold them. */
  async function end(exitCode: number): Promise<void> {
    server.close();
    await Promise.allSettled([...cells].map((cell) => cell.stop()));
    process.exit(exitCode);
  }
  process.on('SIGTERM', () => void end(0));
  process.on('SIGINT', () => void end(130));
  // The starting process may have had a terminal; the keeper has none.
  process.on('SIGHUP', () => {});
  restWhenEmpty();
}
