/** The entry of a table under a name that comes from outside, such as `constructor`: what is inherited is no entry. */
export function own<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
