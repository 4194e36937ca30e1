/** Reads JSON strictly: not too deep, each key of an object once, and no key that reaches a prototype. */

export type JsonProblem = 'not-json' | 'too-deep' | 'duplicate-key' | 'forbidden-key';

export class JsonError extends SyntaxError {
  readonly problem: JsonProblem;

  constructor(problem: JsonProblem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'JsonError';
    this.problem = problem;
  }
}

/** Throws a `JsonError` whose message is the end of a sentence, such as "it names a key twice". */
export function parseJson(text: Uint8Array | string, { depth = 64 }: { depth?: number } = {}): unknown {
  const bytes = typeof text === 'string' ? Buffer.from(text) : asBuffer(text);
  const shape = shapeOf(bytes);
  if (shape.depth > depth) throw new JsonError('too-deep', `it is nested more than ${depth} levels deep`);
  const value = parse(bytes);
  // A repeated key is a pair in the text but not in the value.
  if (countPairs(value) !== shape.pairs)
    throw new JsonError('duplicate-key', 'an object in it names a key twice');
  return value;
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new JsonError('not-json', cause instanceof Error ? cause.message : 'it is not JSON', { cause });
  }
}

/** Counts every key of every object. Walks without recursion; the caller has checked the depth before. */
function countPairs(root: unknown): number {
  let pairs = 0;
  const waiting = [root];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    if (Array.isArray(value)) {
      for (const entry of value) if (typeof entry === 'object' && entry !== null) waiting.push(entry);
      continue;
    }
    for (const [key, entry] of Object.entries(value)) {
      pairs++;
      if (key === '__proto__' || (key === 'constructor' && reachesPrototype(entry)))
        throw new JsonError('forbidden-key', `the key ${JSON.stringify(key)} in it is not accepted`);
      if (typeof entry === 'object' && entry !== null) waiting.push(entry);
    }
  }
  return pairs;
}

function reachesPrototype(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');
}

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;

/** Finds how deep brackets nest and how many pairs there are, before anything parses the text. */
function shapeOf(bytes: Buffer): { depth: number; pairs: number } {
  let open = 0;
  let depth = 0;
  let pairs = 0;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    if (byte === quote) index = endOfString(bytes, index + 1);
    else if (byte === colon) pairs++;
    else if (byte === 0x5b || byte === 0x7b) depth = Math.max(depth, ++open);
    else if (byte === 0x5d || byte === 0x7d) open--;
  }
  return { depth, pairs };
}

function endOfString(bytes: Buffer, start: number): number {
  let end = bytes.indexOf(quote, start);
  while (end !== -1 && isEscaped(bytes, end, start)) end = bytes.indexOf(quote, end + 1);
  return end === -1 ? bytes.length : end;
}

function isEscaped(bytes: Buffer, at: number, start: number): boolean {
  let first = at;
  while (first > start && bytes[first - 1] === backslash) first--;
  return (at - first) % 2 === 1;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
