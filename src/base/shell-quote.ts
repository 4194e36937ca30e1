/** Writes a string as one word of shell source. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
