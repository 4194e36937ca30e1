/** Gathers a stream whose sender decides how long it is: within a limit. */
export async function collect(
  content: AsyncIterable<Uint8Array>,
  limitBytes: number,
  tooMuch: () => Error,
): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of content) {
    length += piece.length;
    if (length > limitBytes) throw tooMuch();
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
