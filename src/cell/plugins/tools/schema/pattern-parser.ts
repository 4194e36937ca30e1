/**
 * Reads a regular expression of JavaScript. Refuses backreferences and flags within the pattern: they need another
 * way to match.
 */

export type Pattern =
  | { readonly type: 'character'; readonly test: CharacterTest }
  | { readonly type: 'edge'; readonly edge: Edge }
  | { readonly type: 'sequence'; readonly parts: readonly Pattern[] }
  | { readonly type: 'choice'; readonly parts: readonly Pattern[] }
  | { readonly type: 'repeat'; readonly part: Pattern; readonly least: number; readonly most: number }
  | { readonly type: 'look'; readonly part: Pattern; readonly behind: boolean; readonly negative: boolean };

export type Edge = 'start' | 'end' | 'word' | 'no-word';

export interface CharacterTest {
  (codePoint: number): boolean;
  /** How many of the tests it consists of are not simple. */
  readonly parts?: number;
}

type Test = CharacterTest;

/** Of characters, and of groups in each other: the parser works by recursion. */
const longest = 4096;
const deepest = 100;

/** The most instructions. Counted repetitions are written out, so each counts as often as it says. */
export interface Room {
  left: number;
}

/** The engine makes a program for each property of characters, which takes as long as many instructions. */
const perProperty = 100;

/** Throws a `SyntaxError` that names the part that it cannot read. */
export function parsePattern(source: string, room: Room): Pattern {
  if (source.length > longest) throw new SyntaxError(`it has more than ${longest} characters`);
  return new Parser(source, room).whole();
}

class Parser {
  readonly #text: readonly string[];
  readonly #room: Room;
  #at = 0;
  #depth = 0;

  constructor(source: string, room: Room) {
    this.#text = [...source];
    this.#room = room;
  }

  whole(): Pattern {
    const pattern = this.#choice();
    if (this.#at < this.#text.length) throw this.#problem('has a ")" too many');
    return pattern;
  }

  #choice(): Pattern {
    if (++this.#depth > deepest) throw this.#problem(`has more than ${deepest} groups in each other`);
    const parts = [this.#sequence()];
    while (this.#takes('|')) parts.push(this.#sequence());
    this.#depth--;
    return parts.length === 1 ? (parts[0] as Pattern) : { type: 'choice', parts };
  }

  #sequence(): Pattern {
    const parts: Pattern[] = [];
    while (this.#at < this.#text.length && !this.#sees('|') && !this.#sees(')')) parts.push(this.#repeated());
    return parts.length === 1 ? (parts[0] as Pattern) : { type: 'sequence', parts };
  }

  #repeated(): Pattern {
    const part = this.#single();
    const range = this.#quantifier();
    if (range === undefined) return part;
    // Greedy or lazy makes no difference to whether there is a match.
    this.#takes('?');
    if (range.most < range.least) throw this.#problem('has numbers out of order in a quantifier');
    return { type: 'repeat', part, ...range };
  }

  #quantifier(): { least: number; most: number } | undefined {
    if (this.#takes('*')) return { least: 0, most: Number.POSITIVE_INFINITY };
    if (this.#takes('+')) return { least: 1, most: Number.POSITIVE_INFINITY };
    if (this.#takes('?')) return { least: 0, most: 1 };
    if (!this.#sees('{')) return undefined;
    const [whole, least, more, most] = /^\{(\d{1,9})(,(\d{1,9})?)?\}/.exec(this.#ahead(24)) ?? [];
    if (whole === undefined) return undefined;
    this.#at += whole.length;
    const atLeast = Number(least);
    if (more === undefined) return { least: atLeast, most: atLeast };
    return { least: atLeast, most: most === undefined ? Number.POSITIVE_INFINITY : Number(most) };
  }

  #single(): Pattern {
    const next = this.#take();
    if (next === '(') return this.#group();
    if (next === '[') return { type: 'character', test: this.#class() };
    if (next === '.') return { type: 'character', test: (point) => !isLineEnd(point) };
    if (next === '^') return { type: 'edge', edge: 'start' };
    if (next === '$') return { type: 'edge', edge: 'end' };
    if (next === '*' || next === '+' || next === '?') throw this.#problem('repeats nothing');
    if (next === '\\') {
      if (this.#takes('b')) return { type: 'edge', edge: 'word' };
      if (this.#takes('B')) return { type: 'edge', edge: 'no-word' };
      const escaped = this.#escape();
      return { type: 'character', test: typeof escaped === 'number' ? is(escaped) : escaped };
    }
    return { type: 'character', test: is(next.codePointAt(0) as number) };
  }

  #group(): Pattern {
    const opening = /^\?(?:(:)|(<?)([=!])|<[A-Za-z_$][\w$]*>)/.exec(this.#ahead(80));
    if (opening === null && this.#sees('?')) throw this.#problem('has a kind of group that is not known');
    const [whole = '', , behind, kind] = opening ?? [];
    this.#at += whole.length;
    const part = this.#choice();
    if (!this.#takes(')')) throw this.#problem('lacks a ")"');
    if (kind === undefined) return part;
    return { type: 'look', part, behind: behind === '<', negative: kind === '!' };
  }

  #class(): Test {
    const negative = this.#takes('^');
    const ranges: [number, number][] = [];
    const tests = new Set<Test>();
    const add = (member: number | Test) =>
      typeof member === 'number' ? ranges.push([member, member]) : tests.add(member);
    while (!this.#takes(']')) {
      const from = this.#member();
      const isRange = this.#sees('-') && this.#text[this.#at + 1] !== ']' && typeof from === 'number';
      if (!isRange) {
        add(from);
        continue;
      }
      this.#take();
      const to = this.#member();
      if (typeof to !== 'number') for (const member of [from, 0x2d, to]) add(member);
      else if (to < from) throw this.#problem('has a range out of order');
      else ranges.push([from, to]);
    }
    const inRanges = rangeTest(ranges);
    const all = [...tests];
    return Object.assign(
      (point: number) => (inRanges(point) || all.some((test) => test(point))) !== negative,
      { parts: all.length },
    );
  }

  #member(): number | Test {
    const next = this.#take();
    if (next !== '\\') return next.codePointAt(0) as number;
    if (this.#takes('b')) return 0x08;
    return this.#escape();
  }

  #escape(): number | Test {
    const next = this.#take();
    const known = classes[next] ?? controls[next];
    if (known !== undefined) return known;
    if (next === 'p' || next === 'P') return this.#property(next === 'P');
    if (next === 'x') return this.#hexadecimal(/^[\dA-Fa-f]{2}/);
    if (next === 'u') return this.#codePoint();
    if (next === 'c') return (this.#take().codePointAt(0) as number) % 32;
    if (next === '0' && !/^\d/.test(this.#ahead(1))) return 0;
    if (/^[\dk]$/.test(next)) throw this.#problem('refers back to a group, which is not supported');
    if (/^[A-Za-z]$/.test(next)) throw this.#problem(`has "\\${next}", which is not known`);
    return next.codePointAt(0) as number;
  }

  #codePoint(): number {
    const [braces, digits] = /^\{([\dA-Fa-f]{1,6})\}/.exec(this.#ahead(8)) ?? [];
    if (braces !== undefined) {
      this.#at += braces.length;
      return Number.parseInt(digits as string, 16);
    }
    const high = this.#hexadecimal(/^[\dA-Fa-f]{4}/);
    const [pair, low] = /^\\u([Dd][C-Fc-f][\dA-Fa-f]{2})/.exec(this.#ahead(6)) ?? [];
    if (pair === undefined || high < 0xd800 || high > 0xdbff) return high;
    this.#at += pair.length;
    return String.fromCharCode(high, Number.parseInt(low as string, 16)).codePointAt(0) as number;
  }

  #hexadecimal(digits: RegExp): number {
    const [found] = digits.exec(this.#ahead(4)) ?? [];
    if (found === undefined) throw this.#problem('has an escape without its digits');
    this.#at += found.length;
    return Number.parseInt(found, 16);
  }

  /** The engine knows the properties of characters; ask it about one character at a time. */
  #property(negative: boolean): Test {
    const [whole, name] = /^\{([\w=]{1,60})\}/.exec(this.#ahead(64)) ?? [];
    if (whole === undefined) throw this.#problem('has a "\\p" without the name of a property');
    this.#at += whole.length;
    this.#room.left -= perProperty;
    if (this.#room.left < 0) throw this.#problem('names too many properties of characters');
    const property = propertyOf(name as string, negative);
    if (property === undefined) throw this.#problem(`names the property "${name}", which is not known`);
    return property;
  }

  #sees(character: string): boolean {
    return this.#text[this.#at] === character;
  }

  #takes(character: string): boolean {
    if (!this.#sees(character)) return false;
    this.#at++;
    return true;
  }

  #take(): string {
    const next = this.#text[this.#at++];
    if (next === undefined) throw this.#problem('ends too early');
    return next;
  }

  #ahead(length: number): string {
    return this.#text.slice(this.#at, this.#at + length).join('');
  }

  #problem(what: string): SyntaxError {
    return new SyntaxError(`it ${what}, at character ${this.#at}`);
  }
}

const space = /\s/u;
const isDigit: Test = (point) => point >= 0x30 && point <= 0x39;
export const isWord: Test = (point) =>
  isDigit(point) || (point >= 0x41 && point <= 0x5a) || (point >= 0x61 && point <= 0x7a) || point === 0x5f;
const isSpace: Test = (point) => space.test(String.fromCodePoint(point));
const isLineEnd: Test = (point) => point === 0x0a || point === 0x0d || point === 0x2028 || point === 0x2029;

const classes: Readonly<Record<string, Test>> = {
  d: isDigit,
  D: (point) => !isDigit(point),
  w: isWord,
  W: (point) => !isWord(point),
  s: isSpace,
  S: (point) => !isSpace(point),
};

const controls: Readonly<Record<string, number>> = { t: 0x09, n: 0x0a, v: 0x0b, f: 0x0c, r: 0x0d };

function is(wanted: number): Test {
  return (point) => point === wanted;
}

/** Finds a character in any number of ranges by halving. */
function rangeTest(ranges: readonly (readonly [number, number])[]): Test {
  const sorted = [...ranges].sort(([one], [other]) => one - other);
  const starts: number[] = [];
  const ends: number[] = [];
  for (const [from, to] of sorted) {
    const last = ends.length - 1;
    if (last >= 0 && from <= (ends[last] as number)) ends[last] = Math.max(ends[last] as number, to);
    else {
      starts.push(from);
      ends.push(to);
    }
  }
  return (point) => {
    let low = 0;
    let high = starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((starts[middle] as number) <= point) low = middle + 1;
      else high = middle;
    }
    return low > 0 && point <= (ends[low - 1] as number);
  };
}

const mostProperties = 500;
const properties = new Map<string, Test | undefined>();

function propertyOf(name: string, negative: boolean): Test | undefined {
  const key = `${negative ? 'P' : 'p'}{${name}}`;
  if (!properties.has(key)) {
    if (properties.size >= mostProperties) properties.clear();
    properties.set(key, tryProperty(key));
  }
  return properties.get(key);
}

function tryProperty(key: string): Test | undefined {
  try {
    const property = new RegExp(`\\${key}`, 'u');
    return Object.assign((point: number) => property.test(String.fromCodePoint(point)), { parts: 1 });
  } catch {
    return undefined;
  }
}
