/** Looks at the beginning of a stream and leaves it there for the next reader. */
import type { Duplex } from 'node:stream';

/** How often to look at the bytes of a program that sends them one by one. */
const mostLooks = 1024;

/**
 * Waits until `isEnough` says so, the stream ends or the time is over. Returns the bytes so far. Leaves the stream
 * paused, with these bytes in front.
 */
export function firstBytes(
  stream: Duplex,
  isEnough: (bytes: Buffer) => boolean,
  ms: number,
): Promise<Buffer> {
  // Neither event comes again.
  if (stream.readableEnded || stream.destroyed) return Promise.resolve(Buffer.alloc(0));
  return new Promise((resolve) => {
    let bytes: Buffer = Buffer.alloc(0);
    let looks = 0;
    const timer = setTimeout(done, ms).unref();
    function done() {
      clearTimeout(timer);
      stream.off('readable', look);
      stream.off('end', done);
      stream.off('close', done);
      if (bytes.length > 0 && !stream.destroyed) stream.unshift(bytes);
      resolve(bytes);
    }
    function look() {
      const chunk = stream.read() as Buffer | null;
      if (chunk === null) return;
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
      if (++looks === mostLooks || isEnough(bytes)) done();
    }
    stream.on('readable', look);
    stream.once('end', done);
    stream.once('close', done);
  });
}
