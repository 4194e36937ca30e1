/** Tables whose keys come from outside. */

/** The table's own entry under a name, even one such as `constructor`: an inherited member is no entry. */
export function own<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** The words of a text, separated by blanks. */
export function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(' '));
}
