/** Cuts off readers that take nothing, so that what waits for them does not stay in memory. */
import type { Socket } from 'node:net';

interface Seen {
  taken: number;
  at: number;
}

/** Checks all sockets at intervals. Returns the function that stops it. */
export function watchStalls(sockets: ReadonlySet<Socket>, stallMs: number): () => void {
  const seen = new WeakMap<Socket, Seen>();
  const timer = setInterval(
    () => {
      const now = performance.now();
      for (const socket of sockets) {
        // Bytes that the system has taken: everything written, less what still waits here.
        const taken = socket.bytesWritten - socket.writableLength;
        const before = seen.get(socket);
        if (socket.writableLength === 0 || before === undefined || before.taken !== taken)
          seen.set(socket, { taken, at: now });
        else if (now - before.at >= stallMs) socket.destroy();
      }
    },
    Math.min(5000, stallMs / 2),
  );
  timer.unref();
  return () => clearInterval(timer);
}
