/** Programs in other languages that this package starts. Each is a file beside the module that starts it. */
import { readFileSync } from 'node:fs';

const texts = new Map<string, string>();

/**
 * Reads the text of such a file on first use. `beside`: the `import.meta.url` of the calling module. Where the
 * package becomes one file, `inline-programs.ts` replaces this module by one with the texts. It knows them by name
 * alone, so no two may have the same name.
 */
export function programText(name: string, beside: string): string {
  const { href } = new URL(name, beside);
  const text = texts.get(href) ?? readFileSync(new URL(href), 'utf8');
  texts.set(href, text);
  return text;
}
