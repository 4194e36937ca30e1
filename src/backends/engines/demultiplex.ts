/** Takes the multiplexed streams of a program in a container apart. */
import { Duplex, PassThrough } from 'node:stream';

/** Before each piece: which stream it is of, three unused bytes, and its length. */
const headerBytes = 8;
const standardError = 2;

/** Standard input and output as one stream. Text on standard error goes to the listener. */
export function demultiplex(stream: Duplex, onError: (text: string) => void): Duplex {
  const output = new PassThrough();
  let header = Buffer.alloc(0);
  let isError = false;
  let left = 0;
  stream.on('data', (chunk: Buffer) => {
    let rest = chunk;
    while (rest.length > 0) {
      if (left === 0) {
        const missing = headerBytes - header.length;
        header = Buffer.concat([header, rest.subarray(0, missing)]);
        rest = rest.subarray(missing);
        if (header.length < headerBytes) return;
        isError = header[0] === standardError;
        left = header.readUInt32BE(4);
        header = Buffer.alloc(0);
        continue;
      }
      const piece = rest.subarray(0, left);
      rest = rest.subarray(piece.length);
      left -= piece.length;
      if (isError) onError(piece.toString('utf8'));
      else if (!output.write(piece)) stream.pause();
    }
  });
  output.on('drain', () => stream.resume());
  // A reader that stops must not stop the program's errors.
  output.on('close', () => stream.resume());
  stream.once('close', () => output.end());
  stream.once('end', () => output.end());
  stream.on('error', () => output.end());
  return Duplex.from({ readable: output, writable: stream });
}
