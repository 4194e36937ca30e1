export type Table = Record<string, unknown>;

/** True for a plain object, such as a TOML table or parsed JSON; false for arrays and dates. */
export function isTable(value: unknown): value is Table {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
