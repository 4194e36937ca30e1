import { WorkcellError } from '../../protocol/index.js';

/** A whole body as text, up to a length. */
export async function readText(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    pieces.push(piece);
    length += piece.length;
    if (length > limitBytes)
      throw new WorkcellError('file-too-large', `The server answered with more than ${limitBytes} bytes.`);
  }
  return Buffer.concat(pieces).toString('utf8');
}
