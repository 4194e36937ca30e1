/** Byte streams of a cell that show no secret. */
import type { Terminal } from '../protocol/index.js';
import type { Mask } from './pipeline.js';

/** Keeps the number of bytes; replaces those of a secret. */
export async function* maskBytes(chunks: AsyncIterable<Uint8Array>, mask: Mask): AsyncGenerator<Uint8Array> {
  const masker = mask.bytes();
  for await (const chunk of chunks) {
    const shown = masker.write(chunk);
    if (shown.length > 0) yield shown;
  }
  const rest = masker.end();
  if (rest.length > 0) yield rest;
}

/** A terminal whose output shows no secret. */
export function maskTerminal(terminal: Terminal, mask: Mask | undefined): Terminal {
  if (mask === undefined) return terminal;
  return Object.create(terminal, { output: { value: maskBytes(terminal.output, mask) } }) as Terminal;
}
