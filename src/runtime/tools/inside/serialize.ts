/**
 * The JSON text of a tool's result. Refuses values that JSON would silently change, such as `NaN`: the message of the
 * error names the problem.
 */
export function serialize(result: unknown, limitBytes: number): string {
  const tooLarge = `it is larger than ${limitBytes} bytes; write it to a file and return its path`;
  const paths = new WeakMap<object, string>();
  let size = 0;
  function check(this: object, key: string, value: unknown): unknown {
    const above = paths.get(this);
    const path = above === undefined ? key : `${above}.${key}`;
    if (typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value))) {
      const kind = typeof value === 'bigint' ? 'a BigInt' : String(value);
      throw new Error(`${path === '' ? 'it' : path} is ${kind}, which JSON cannot hold`);
    }
    if (typeof value === 'object' && value !== null && path !== '') paths.set(value, path);
    size += key.length + (typeof value === 'string' ? value.length : 1);
    if (size > limitBytes) throw new Error(tooLarge);
    return value;
  }
  let text: string | undefined;
  try {
    text = JSON.stringify(result, check);
  } catch (error) {
    // Keep the first line; the rest draws the cycle.
    throw new Error((error instanceof Error ? error.message : String(error)).split('\n')[0]);
  }
  // JSON has no form for values such as undefined or a function.
  text ??= 'null';
  if (Buffer.byteLength(text) > limitBytes) throw new Error(tooLarge);
  return text;
}
