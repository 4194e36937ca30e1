/**
 * Reads JSON that came out of a cell. Its author decides how long parsing takes: a few megabytes of brackets stop
 * this process for a second. So count the values first, which costs little for long strings.
 */

export interface JsonBounds {
  readonly bytes: number;
  /** Strings, numbers, names, lists and objects in all. */
  readonly values: number;
  readonly depth: number;
}

/** Parsing takes about 20 ms within these, and values nest no deeper than recursive code can walk. */
export const usualBounds: JsonBounds = { bytes: 8 * 1024 * 1024, values: 100_000, depth: 256 };

/** Throws a `SyntaxError` for text that is not JSON, and a `RangeError` for JSON beyond the bounds. */
export function parseUntrustedJson(bytes: Buffer, bounds: JsonBounds = usualBounds): unknown {
  checkJsonBounds(bytes, bounds);
  return JSON.parse(bytes.toString('utf8'));
}

/** The same for text, and undefined for what is not JSON or is beyond the bounds. */
export function readUntrustedJson(text: string, bounds: JsonBounds = usualBounds): unknown {
  try {
    return parseUntrustedJson(Buffer.from(text), bounds);
  } catch {
    return undefined;
  }
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;

/**
 * Check this many bytes of a string one by one before searching for its end, because a search is slow for short
 * strings.
 */
const shortString = 64;

/** For what others parse. */
export function checkJsonBounds(bytes: Buffer, bounds: JsonBounds = usualBounds): void {
  if (bytes.length > bounds.bytes) throw beyond('bytes', bounds.bytes);
  let values = 1;
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    // Each comma and colon precedes a value, and so does the opening bracket of a list or object that is not empty.
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
    // After a backslash, check again from a place where it is certain which character the backslash escapes.
    if (bytes[end - 1] !== backslash) return end;
    at = Math.max(at, afterEscapes(bytes, at, end));
  }
  return at;
}

/** The first place behind `from` where no escape sequence is under way, at or just before the quote at `end`. */
function afterEscapes(bytes: Buffer, from: number, end: number): number {
  let first = end;
  while (first > from && bytes[first - 1] === backslash) first--;
  // An even number of backslashes escape each other, and the quote ends the string; an odd number escapes the quote.
  return (end - first) % 2 === 0 ? end : end + 1;
}

function beyond(what: string, limit: number): RangeError {
  return new RangeError(`It has more than ${limit} ${what}, which is the limit.`);
}
