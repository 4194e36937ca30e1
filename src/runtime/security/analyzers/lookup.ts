/** Tables whose keys come from outside. */

/** The entry under a name such as `constructor`: what is inherited is no entry. */
export function own<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** The words of a text that are apart by blanks. */
export function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(' '));
}
