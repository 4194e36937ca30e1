/** Programs in other languages that this package starts. Each is a file beside the module that starts it. */
import { readFileSync } from 'node:fs';

const texts = new Map<string, string>();

/**
 * The text of such a file, read when it is first asked for. `beside`: the `import.meta.url` of the module that asks. Where
 * the package becomes one file, `inline-programs.ts` puts a module with the texts in the place of this one; it knows them
 * by their names alone, so no two have the same.
 */
export function programText(name: string, beside: string): string {
  const { href } = new URL(name, beside);
  const text = texts.get(href) ?? readFileSync(new URL(href), 'utf8');
  texts.set(href, text);
  return text;
}
