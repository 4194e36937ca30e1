/** Looks at the beginning of a stream without taking it away from whoever reads it next. */
import type { Duplex } from 'node:stream';

/** A program that sends its bytes one by one has so many looked at each time. */
const mostLooks = 1024;

/**
 * Waits until `isEnough` says so, the stream ends or the time is over; gives what has come. The stream is paused
 * afterwards, with these bytes in front.
 */
export function firstBytes(
  stream: Duplex,
  isEnough: (bytes: Buffer) => boolean,
  ms: number,
): Promise<Buffer> {
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
