/**
 * Writes a search pattern for ripgrep such that ripgrep finds at least the lines that our own matching finds. ripgrep
 * only names the files to look into, so finding more is fine and missing one is not.
 */
import type { CompiledPattern } from './regex.js';

/** One argument of a program may have 128 KiB. */
const maxCharacters = 64 * 1024;

/** Our matching replaces bytes that are not UTF-8, up to three by one character; to ripgrep they are no character. */
const notUtf8 = '(?-u:[\\x80-\\xff]){1,3}';

const anything = `(?:.|${notUtf8})`;

/** Our matching takes the line without its carriage return. */
const lineEnd = '(?:\\r?$)';

/** The white space of JavaScript. */
const space =
  '\\t\\x0b\\x0c\\r\\x20\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';

/** What the escapes for sets stand for, as members of a class. */
const sets = new Map([
  ['d', '0-9'],
  ['w', '0-9A-Za-z_'],
  ['s', space],
]);

/** Undefined for a pattern with parts that do not mean the same in both syntaxes. */
export function ripgrepPattern({ source, flags }: CompiledPattern): string | undefined {
  // Without `u`, JavaScript counts halves of characters. Multi-line and dot-all patterns are rare.
  if (!/^i?u$/.test(flags)) return undefined;
  try {
    const pattern = new Translation(source, flags.includes('i')).whole();
    return pattern.length > maxCharacters ? undefined : pattern;
  } catch (error) {
    if (error === untranslatable) return undefined;
    throw error;
  }
}

const untranslatable = Symbol('untranslatable');

class Translation {
  readonly #characters: readonly string[];
  readonly #ignoreCase: boolean;
  #index = 0;

  constructor(source: string, ignoreCase: boolean) {
    this.#characters = Array.from(source);
    this.#ignoreCase = ignoreCase;
  }

  whole(): string {
    let pattern = '';
    while (this.#index < this.#characters.length) pattern += this.#part(this.#next());
    return pattern;
  }

  #part(character: string): string {
    if (character === '\\') return this.#escape(this.#next());
    if (character === '[') return this.#class();
    if (character === '(') return this.#group();
    if (character === '{') return this.#repetition();
    if (character === '.') return anything;
    if (character === '$') return lineEnd;
    return '^|)*+?'.includes(character) ? character : this.#literal(character);
  }

  #escape(escaped: string): string {
    // Leaving out an assertion finds more.
    if (escaped === 'b' || escaped === 'B') return '(?:)';
    const members = sets.get(escaped);
    if (members !== undefined) return `[${members}]`;
    const excluded = sets.get(escaped.toLowerCase());
    return excluded === undefined ? this.#escapedLiteral(escaped) : this.#except(excluded);
  }

  #group(): string {
    const opening = this.#characters.slice(this.#index, this.#index + 3).join('');
    if (opening.startsWith('?:')) {
      this.#index += 2;
    } else if (/^\?<[^=!]/.test(opening)) {
      while (this.#next() !== '>');
    } else if (opening.startsWith('?')) {
      throw untranslatable;
    }
    return '(?:';
  }

  #repetition(): string {
    let counts = '';
    for (let character = this.#next(); character !== '}'; character = this.#next()) counts += character;
    return `{${counts}}`;
  }

  #class(): string {
    const isNegated = this.#characters[this.#index] === '^';
    if (isNegated) this.#index++;
    let members = '';
    for (let character = this.#next(); character !== ']'; character = this.#next())
      members += this.#members(character);
    // An empty class is an error in one syntax and matches nothing, or everything, in the other.
    if (members === '') throw untranslatable;
    return isNegated ? this.#except(members) : `[${members}]`;
  }

  /** One character, one set, or one range of a class. */
  #members(character: string): string {
    const escaped = character === '\\' ? this.#next() : undefined;
    const set = escaped === undefined ? undefined : sets.get(escaped);
    if (set !== undefined) return set;
    const first = escaped === undefined ? this.#literal(character) : this.#escapedLiteral(escaped);
    const isRange = this.#characters[this.#index] === '-' && this.#characters[this.#index + 1] !== ']';
    if (!isRange) return first;
    this.#index++;
    const end = this.#next();
    const last = end === '\\' ? this.#escapedLiteral(this.#next()) : this.#literal(end);
    // Ranges beyond may span characters that stand for something else in our matching.
    if (end.charCodeAt(0) >= 0x7f) throw untranslatable;
    return `${first}-${last}`;
  }

  /** Under "ignore case" the two syntaxes may disagree about the remaining characters. */
  #except(members: string): string {
    return this.#ignoreCase ? anything : `(?:[^${members}]|${notUtf8})`;
  }

  #escapedLiteral(escaped: string): string {
    if (escaped === 't' || escaped === 'r') return `\\${escaped}`;
    if (!'^$\\.*+?()[]{}|/-'.includes(escaped)) throw untranslatable;
    return this.#literal(escaped);
  }

  #literal(character: string): string {
    const code = character.codePointAt(0) ?? 0;
    const isControl = code < 0x20 && character !== '\t';
    // These stand for bytes that our matching replaces or leaves out.
    const isStandIn = character === '\uFFFD' || character === '\uFEFF' || isSurrogate(code);
    // Which letters are the same in another case depends on the version of Unicode.
    const hasOtherCase = code >= 0x7f && this.#ignoreCase;
    if (isControl || isStandIn || hasOtherCase) throw untranslatable;
    return /^[0-9A-Za-z]$/.test(character) ? character : `\\x{${code.toString(16)}}`;
  }

  #next(): string {
    const character = this.#characters[this.#index++];
    if (character === undefined) throw untranslatable;
    return character;
  }
}

function isSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdfff;
}
