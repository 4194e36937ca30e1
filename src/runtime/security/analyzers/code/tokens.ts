/** Splits code of any common language into the few kinds of tokens that matter for what it calls. */

export interface Token {
  readonly kind: 'text' | 'name' | 'number' | 'mark' | 'line';
  readonly value: string;
  /** The quote around a text: in some quotes the language fills in variables. */
  readonly quote?: string;
}

const mostTokens = 20_000;
const space = /[ \t\r]+|\\\n/y;
const name = /[$@%]?[A-Za-z_][\w$]*[!?]?|\$[_0@]/y;
const number = /0[xob]?[\da-fA-F_]+|\d[\d_]*(?:\.\d+)?/y;
const mark = /::|->|\?\.|=>|:=|===?|!==?|<=|>=|&&|\|\||\*\*|\.\.|[^\s\w]/y;
const triple = /[rbfuRBFU]{0,2}("""|''')([\s\S]{0,20000}?)\1/y;
const single = /([rbfuRBFU]{0,2})(["'`])((?:\\[\s\S]|(?!\2)[^\\])*)\2/y;
const perlQuote =
  /\b(?:qq?|%[qQ])(?:\{([^}]{0,2000})\}|\(([^)]{0,2000})\)|\[([^\]]{0,2000})\]|\|([^|]{0,2000})\||\/([^/]{0,2000})\/)/y;
const wordList =
  /\b(?:qw|%[wi])\s*(?:\{([^}]{0,2000})\}|\(([^)]{0,2000})\)|\[([^\]]{0,2000})\]|\|([^|]{0,2000})\||\/([^/]{0,2000})\/)|%[wi](?:\{([^}]{0,2000})\}|\(([^)]{0,2000})\)|\[([^\]]{0,2000})\])/y;
const lineComment = /#[^\n]*/y;
const slashComment = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y;

/** `slashes` tells whether `//` begins a comment, as in JavaScript and Go, rather than `#`. */
export function tokensOf(code: string, slashes: boolean): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  // Marks that open a text which never ends: looking for the end of each would take too long.
  const open = new Set<string>();
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(code);
    if (match !== null) at += match[0].length;
    return match;
  };
  while (at < code.length && tokens.length < mostTokens) {
    if (code[at] === '\n' || code[at] === ';') {
      tokens.push({ kind: 'line', value: code[at++] as string });
      continue;
    }
    if (take(space) !== null) continue;
    if (take(slashes ? slashComment : lineComment) !== null) continue;
    const text = take(triple) ?? undefined;
    if (text !== undefined) {
      tokens.push({ kind: 'text', value: text[2] ?? '', quote: text[0].slice(0, 1) });
      continue;
    }
    const here = code[at] ?? '';
    const quoted = open.has(here) ? null : take(single);
    if (quoted === null && /["'`]/.test(here)) open.add(here);
    if (quoted !== null) {
      const [, prefix = '', quote = '', body = ''] = quoted;
      const raw = /r/i.test(prefix);
      tokens.push({
        kind: 'text',
        value: raw ? body : withoutEscapes(body),
        quote: /f/i.test(prefix) ? 'f' : quote,
      });
      continue;
    }
    const list = take(wordList);
    if (list !== null) {
      const listed = list.slice(1).find((part) => part !== undefined) ?? '';
      tokens.push({ kind: 'mark', value: '[' });
      for (const value of listed.split(/\s+/).filter((part) => part !== ''))
        tokens.push({ kind: 'text', value, quote: "'" }, { kind: 'mark', value: ',' });
      tokens.push({ kind: 'mark', value: ']' });
      continue;
    }
    const other = take(perlQuote);
    if (other !== null) {
      tokens.push({
        kind: 'text',
        value: other.slice(1).find((part) => part !== undefined) ?? '',
        quote: '"',
      });
      continue;
    }
    const word = take(name);
    if (word !== null) tokens.push({ kind: 'name', value: word[0] });
    else {
      const digits = take(number);
      if (digits !== null) tokens.push({ kind: 'number', value: digits[0] });
      else {
        const sign = take(mark);
        if (sign === null) at++;
        else tokens.push({ kind: 'mark', value: sign[0] });
      }
    }
  }
  return tokens;
}

function withoutEscapes(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(
    /\\(?:x([0-9a-fA-F]{2})|u\{?([0-9a-fA-F]{4,5})\}?|([0-7]{1,3})|([\s\S]))/g,
    (_, hex?: string, unicode?: string, octal?: string, letter = '') => {
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
      if (unicode !== undefined) return String.fromCodePoint(Number.parseInt(unicode, 16));
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
      return { n: '\n', t: '\t', r: '\r', '\n': '' }[letter as string] ?? letter;
    },
  );
}
