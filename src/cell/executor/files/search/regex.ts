/** Understands regular expressions as ripgrep writes them, as far as JavaScript can. */
import { WorkcellError } from '../../../../protocol/index.js';

export interface CompiledPattern {
  readonly source: string;
  readonly flags: string;
}

export function compilePattern(
  pattern: string,
  options: { literal?: boolean | undefined; ignoreCase?: boolean | undefined },
): CompiledPattern {
  const { body, inlineFlags } = options.literal ? { body: pattern, inlineFlags: '' } : splitFlags(pattern);
  const source = options.literal ? escapeLiteral(body) : translate(body);
  const flags = [...new Set([...inlineFlags, ...(options.ignoreCase ? 'i' : '')])].join('');
  // Without `u`, JavaScript accepts escapes of characters that need none, as ripgrep does.
  const withUnicode = { source, flags: `${flags}u` };
  if (tryCompile(withUnicode) === undefined) return withUnicode;
  const plain = { source, flags };
  const problem = tryCompile(plain);
  if (problem === undefined) return plain;
  throw invalidPattern(pattern, problem);
}

export function invalidPattern(pattern: string, why: string): WorkcellError {
  return new WorkcellError(
    'invalid-pattern',
    `The pattern ${JSON.stringify(pattern.slice(0, 200))} is not valid: ${why}. Simplify it, or set literal to search for plain text.`,
    { details: { pattern } },
  );
}

function tryCompile({ source, flags }: CompiledPattern): string | undefined {
  try {
    new RegExp(source, flags);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Flags in front of the pattern, such as `(?i)`, are options in JavaScript. */
function splitFlags(pattern: string): { body: string; inlineFlags: string } {
  const match = /^\(\?([ims]+)\)/.exec(pattern);
  return { body: pattern.slice(match?.[0].length ?? 0), inlineFlags: match?.[1] ?? '' };
}

const namedClasses: Readonly<Record<string, string>> = {
  alnum: 'a-zA-Z0-9',
  alpha: 'a-zA-Z',
  blank: ' \\t',
  cntrl: '\\x00-\\x1f\\x7f',
  digit: '0-9',
  lower: 'a-z',
  print: '\\x20-\\x7e',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\s',
  upper: 'A-Z',
  word: '\\w',
  xdigit: '0-9A-Fa-f',
};

function translate(pattern: string): string {
  return pattern.replace(
    /\\p([A-Z])|\\([\s\S])|\(\?P<|\[:([a-z]+):\]/g,
    (whole, property, escaped, named) => {
      if (property !== undefined) return `\\p{${property}}`;
      if (escaped === 'A') return '^';
      if (escaped === 'z') return '$';
      if (escaped !== undefined) return whole;
      if (whole === '(?P<') return '(?<';
      return namedClasses[named] ?? whole;
    },
  );
}

function escapeLiteral(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
