/**
 * Reads JSON that came out of a cell. To parse a text takes as long as its writer likes: a few megabytes of brackets stop
 * this process for a second. So the values in it are counted before, which costs little for long strings.
 */

export interface JsonBounds {
  readonly bytes: number;
  /** Strings, numbers, names, lists and objects in all. */
  readonly values: number;
  readonly depth: number;
}

/** What is parsed in about 20 ms, and no deeper than what others walk through by recursion. */
export const usualBounds: JsonBounds = { bytes: 8 * 1024 * 1024, values: 100_000, depth: 256 };

/** Throws a `SyntaxError` for what is no JSON, and a `RangeError` for what is beyond the bounds. */
export function parseUntrustedJson(bytes: Buffer, bounds: JsonBounds = usualBounds): unknown {
  checkJsonBounds(bytes, bounds);
  return JSON.parse(bytes.toString('utf8'));
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;

/** So much of a string is looked at byte by byte before its end is searched for, which is dear for short ones. */
const shortString = 64;

/** For what others parse. */
export function checkJsonBounds(bytes: Buffer, bounds: JsonBounds = usualBounds): void {
  if (bytes.length > bounds.bytes) throw beyond('bytes', bounds.bytes);
  let values = 1;
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    // Commas and colons come before a value each, and so do the brackets of what is not empty.
    if (byte === comma || byte === colon) values++;
    else if (byte === quote) at = stringEnd(bytes, at + 1);
    else if (byte === 0x5b || byte === 0x7b) {
      values++;
      if (++depth > bounds.depth) throw beyond('levels', bounds.depth);
    } else if (byte === 0x5d || byte === 0x7d) depth--;
    if (values > bounds.values) throw beyond('values', bounds.values);
  }
}

/** Where a string ends that begins before `from`. */
function stringEnd(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length) {
    const near = Math.min(at + shortString, bytes.length);
    for (; at < near; at++) {
      const byte = bytes[at];
      if (byte === quote) return at;
      if (byte === backslash) at++;
    }
    const end = bytes.indexOf(quote, at);
    if (end === -1) return bytes.length;
    // One that has a backslash before it is looked at again, from where it is certain what the backslash belongs to.
    if (bytes[end - 1] !== backslash) return end;
    at = Math.max(at, afterEscapes(bytes, at, end));
  }
  return at;
}

/** The first place behind `from` where no escape sequence is under way, at or just before the quote at `end`. */
function afterEscapes(bytes: Buffer, from: number, end: number): number {
  let first = end;
  while (first > from && bytes[first - 1] === backslash) first--;
  // An even number of backslashes are escaped ones, and the quote is the end; an odd one escapes the quote.
  return (end - first) % 2 === 0 ? end : end + 1;
}

function beyond(what: string, limit: number): RangeError {
  return new RangeError(`It has more than ${limit} ${what}, which is the limit.`);
}
