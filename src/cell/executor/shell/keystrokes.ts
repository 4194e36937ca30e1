const named: Readonly<Record<string, string>> = {
  Enter: '\r',
  Tab: '\t',
  Escape: '\x1b',
  Space: ' ',
  Backspace: '\x7f',
  Up: '\x1b[A',
  Down: '\x1b[B',
  Right: '\x1b[C',
  Left: '\x1b[D',
  Home: '\x1b[H',
  End: '\x1b[F',
  PageUp: '\x1b[5~',
  PageDown: '\x1b[6~',
};

/** What to send to a terminal: a key such as `C-c` or `Up` as itself, any other text as a line. */
export function toKeystrokes(input: string): string {
  const control = /^C-([a-z@[\\\]^_])$/i.exec(input.trim());
  if (control?.[1] !== undefined) return String.fromCharCode(control[1].toUpperCase().charCodeAt(0) & 0x1f);
  const key = named[input.trim()];
  if (key !== undefined) return key;
  return input.endsWith('\n') ? input : `${input}\n`;
}
