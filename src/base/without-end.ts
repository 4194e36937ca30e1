/**
 * Without the given character wherever it stands at the end. An expression such as `/x+$/` tries again from each letter of
 * every run inside of the text, which takes the square of its length.
 */
export function withoutEnd(text: string, ...characters: readonly string[]): string {
  let end = text.length;
  while (characters.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
