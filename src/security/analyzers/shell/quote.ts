/** A word as shell source that stands for exactly itself. */
export function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
