/** Reads the front matter of a file from a repository, which can be written to keep a parser busy. */
import type { CST } from 'yaml';

/** The parser works in one go, and gets no more than it reads within milliseconds. */
const mostCharacters = 16 * 1024;
/** Words, marks and line ends. */
const mostParts = 4000;
/** The parser calls itself for each level, and a process whose stack is used up may end. */
const mostLevels = 32;

/** Throws an error that says what is wrong with it. */
export async function parseFrontMatter(front: string): Promise<unknown> {
  if (front.length > mostCharacters)
    throw new Error(`The front matter has ${front.length} characters, and ${mostCharacters} are allowed.`);
  const { Lexer, Parser, parse } = await import('yaml');
  let parts = 0;
  for (const _part of new Lexer().lex(front))
    if (++parts > mostParts) throw new Error(`The front matter has more than ${mostParts} parts.`);
  if (levelsOf(new Parser().parse(front)) > mostLevels)
    throw new Error(`The front matter has more than ${mostLevels} levels.`);
  const options = {
    // A few lines of aliases can expand to gigabytes.
    maxAliasCount: 0,
    // Each of these compares or shows again what it already read: keys with all others, a key that is no text, all
    // lines before each mistake.
    uniqueKeys: false,
    stringKeys: true,
    prettyErrors: false,
    logLevel: 'error',
  } as const;
  try {
    return parse(front, options) ?? {};
  } catch (error) {
    throw new Error(`The front matter is no YAML: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Without recursion. */
function levelsOf(tokens: Iterable<CST.Token>): number {
  const left: { readonly token: CST.Token | null | undefined; readonly level: number }[] = [];
  for (const token of tokens) left.push({ token, level: 0 });
  let most = 0;
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { token, level } = next;
    if (token === null || token === undefined) continue;
    most = Math.max(most, level);
    if (token.type === 'document') left.push({ token: token.value, level });
    if (!('items' in token)) continue;
    for (const item of token.items)
      for (const inner of [item.key, item.value]) left.push({ token: inner, level: level + 1 });
  }
  return most;
}
