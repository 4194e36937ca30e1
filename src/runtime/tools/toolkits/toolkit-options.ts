/** Refuses unknown options of a toolkit, which may come from unchecked JSON. */
export function checkOptions(toolkit: string, given: object, known: readonly string[]): void {
  const strange = Object.keys(given).find((name) => !known.includes(name));
  if (strange === undefined) return;
  const takes = known.length === 0 ? 'no options' : known.join(', ');
  throw new Error(`${toolkit} has no option ${JSON.stringify(strange)}. It takes: ${takes}.`);
}
