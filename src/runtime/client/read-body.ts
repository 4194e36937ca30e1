import { collect } from '../../base/collect.js';
import { WorkcellError } from '../../protocol/index.js';

/** A whole body as text, up to a length. */
export async function readText(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<string> {
  const tooMuch = () =>
    new WorkcellError('file-too-large', `The server answered with more than ${limitBytes} bytes.`);
  return (await collect(body, limitBytes, tooMuch)).toString('utf8');
}
