/**
 * The JSON text of what a tool returned. Values that JSON would silently change, such as `NaN`, are refused by name:
 * the message of the error says what is wrong with the result.
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
    // The first line says it; the rest draws a cycle.
    throw new Error((error instanceof Error ? error.message : String(error)).split('\n')[0]);
  }
  // Of what JSON knows nothing, such as undefined or a function, it makes nothing at all.
  text ??= 'null';
  if (Buffer.byteLength(text) > limitBytes) throw new Error(tooLarge);
  return text;
}
