/**
 * How many of the bytes decode without cutting a character in two: all of them, or up to three fewer when they end in
 * the beginning of one. Bytes that are no UTF-8 at all count as whole.
 */
export function wholeCharacters(bytes: Uint8Array): number {
  const length = bytes.length;
  for (let back = 1; back <= Math.min(3, length); back++) {
    const byte = bytes[length - back] as number;
    if ((byte & 0b1100_0000) === 0b1000_0000) continue;
    const size =
      byte >= 0xf0 && byte <= 0xf4 ? 4 : byte >= 0xe0 ? (byte < 0xf0 ? 3 : 1) : byte >= 0xc2 ? 2 : 1;
    return size > back ? length - back : length;
  }
  return length;
}

/** How many continuation bytes are at the start, left over from a character that begins before. */
export function partialStart(bytes: Uint8Array): number {
  let count = 0;
  while (count < Math.min(3, bytes.length) && ((bytes[count] as number) & 0b1100_0000) === 0b1000_0000)
    count++;
  return count;
}
