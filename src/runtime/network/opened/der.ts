/** Writes the few structures of DER (X.690) that a certificate is made of. */

export function sequence(...parts: Buffer[]): Buffer {
  return tagged(0x30, ...parts);
}

export function tagged(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

/** `1.2.840.10045.4.3.2` */
export function objectId(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  return tagged(6, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** Of bytes that are a positive number. */
export function integer(bytes: Buffer): Buffer {
  return tagged(2, (bytes[0] ?? 0) > 127 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

/** `unused`: how many bits at its end do not count. */
export function bitString(bytes: Buffer, unused = 0): Buffer {
  return tagged(3, Buffer.from([unused]), bytes);
}

export function octetString(bytes: Buffer): Buffer {
  return tagged(4, bytes);
}

export function utf8(text: string): Buffer {
  return tagged(12, Buffer.from(text, 'utf8'));
}

/** With two digits for the year, as certificates have it until 2049. */
export function time(date: Date): Buffer {
  return tagged(23, Buffer.from(`${date.toISOString().replace(/^\d\d|[-:T]|\.\d+/g, '')}`, 'latin1'));
}

export const yes = Buffer.from([1, 1, 255]);

function base128(value: number): number[] {
  const digits = [value & 127];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) digits.unshift((rest & 127) | 128);
  return digits;
}

function lengthOf(length: number): Buffer {
  if (length < 128) return Buffer.from([length]);
  const bytes = length < 256 ? [length] : [length >> 8, length & 255];
  return Buffer.from([128 | bytes.length, ...bytes]);
}
