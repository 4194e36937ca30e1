const escapes: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  e: 27,
  E: 27,
  f: 12,
  n: 10,
  r: 13,
  t: 9,
  v: 11,
  '\\': 92,
  "'": 39,
  '"': 34,
  '?': 63,
};

/** Reads back what bash's `printf %q` wrote: plain words with backslashes, `''`, or `$'…'`. */
export function unquote(word: Buffer): string {
  const text = word.toString('latin1');
  if (text === "''") return '';
  if (!text.startsWith("$'")) return Buffer.from(text.replace(/\\(.)/gs, '$1'), 'latin1').toString();
  const body = text.slice(2, -1);
  const plain = body.replace(
    /\\(?:([0-7]{1,3})|([abeEfnrtv\\'"?]))/g,
    (_match, octal?: string, letter?: string) =>
      String.fromCharCode(octal === undefined ? (escapes[letter ?? ''] ?? 0) : Number.parseInt(octal, 8)),
  );
  return Buffer.from(plain, 'latin1').toString();
}
