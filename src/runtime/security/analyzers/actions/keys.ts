/** Text for a terminal, in which some characters are keys that change the text before them. */
import type { Scope } from '../shell/scope.js';

/** Keys alone move around in a program's display, and type nothing. */
const keysOnly = /^(?:\x1b(?:[[O][\d;]*[A-Za-z~])?|[\0-\x1f\x7f])*$/;
/** Keys that move, exchange, complete or bring back text of the line. */
const editing =
  /[\x01\x02\x05\x06\x0e\x10\x12-\x14\x16\x18-\x1a\x1f]|\x1b(?:[[O]|[bBcCdDfFlLtTuUyY.<>~_*?#&$!@\d^-])/;

/** With such keys in it, a text is not what the program gets. */
export function judgeKeys(text: string, scope: Scope): void {
  if (keysOnly.test(text) || !editing.test(text)) return;
  scope.findings.add(
    'unknown',
    'Keys that edit the line stand in what is typed, so what it says is not known.',
  );
}

/** The rest of a text after its keys have erased characters, words and lines. */
export function afterErasing(text: string): string {
  if (!/[\x08\x15\x17\x7f]/.test(text)) return text;
  const kept: string[] = [];
  const lineStart = () => kept.findLastIndex((unit) => unit === '\n' || unit === '\r') + 1;
  for (const unit of text) {
    const start = lineStart();
    if (unit === '\x15') kept.length = start;
    else if (unit === '\x08' || unit === '\x7f') kept.length = Math.max(start, kept.length - 1);
    else if (unit === '\x17') {
      while (kept.length > start && kept.at(-1) === ' ') kept.pop();
      while (kept.length > start && kept.at(-1) !== ' ') kept.pop();
    } else kept.push(unit);
  }
  return kept.join('');
}

/** The commands in text for editors, pagers, debuggers and databases: `:!ls`, `!ls`, `\\! ls`, `.shell ls`. */
export function escapedCommands(text: string): string[] {
  return [
    ...text.matchAll(
      /(?:^|[\r\n\x1b])[ \t]*(?:[:\\]?[ \t]*(?:r[ \t]*)?!+|[:.]?(?:shell|system|sh)[ \t])[ \t]*([^\r\n]+)/g,
    ),
  ].map((match) => match[1] ?? '');
}
