/**
 * Matches wildcards over text that an untrusted author chooses. It follows all ways to match at once, with one bit
 * for each place in the pattern. So no pattern and no text takes longer than the length of the text times the
 * pattern's words of 32 bits.
 */
import { WorkcellError } from '../protocol/errors.js';

/**
 * - `words`: `*` is any text; everything else, `?` too, is itself.
 * - `text`: `*` is any text, `?` any character.
 * - `path`: the same without slashes; `**` is any text. As a whole name before a slash, it is any number of directories, or none.
 */
export type GlobStyle = 'words' | 'text' | 'path';

export type GlobMatcher = (text: string) => boolean;

const longestGlob = 1024;
const slash = 0x2f;

/** Compiles a pattern that must fit the whole text. */
export function compileGlob(glob: string, style: GlobStyle): GlobMatcher {
  if (glob.length > longestGlob)
    throw new WorkcellError(
      'invalid-pattern',
      `The pattern ${JSON.stringify(glob.slice(0, 60))}… has ${glob.length} characters, and ${longestGlob} are the most. Split it into several.`,
    );
  if (!special[style].test(glob)) return (text) => text === glob;
  const machine = build(glob, style);
  return (text) => run(machine, text);
}

const special = { words: /\*/, text: /[*?]/, path: /[*?]/ };
/** At the end of a path pattern, directories are any text: everything below, as without the slash. */
const parts = { words: /\*+|./gsu, text: /\*+|./gsu, path: /(?<=^|\/)(?:\*\*\/)+(?!$)|\*\*\/$|\*\*|./gsu };

/** Sets of places, a bit for each. At place `n` the first `n` characters of the pattern, stars left out, have fitted. */
interface Machine {
  readonly words: number;
  /** Places from which a character leads to the next one. */
  readonly steps: ReadonlyMap<number, Uint32Array>;
  /** The same for a character that the pattern does not name. */
  readonly otherSteps: Uint32Array;
  /** Places that a star keeps, whatever comes and at a slash. */
  readonly stays: Uint32Array;
  readonly staysAtSlash: Uint32Array;
  /** Places that also count as having reached the next place. No two are adjacent. */
  readonly optional: Uint32Array;
  readonly last: number;
}

function build(glob: string, style: GlobStyle): Machine {
  const found = glob.match(parts[style]) ?? [];
  const words = (found.length >>> 5) + 1;
  const empty = () => new Uint32Array(words);
  const [otherSteps, slashSteps, stays, staysAtSlash] = [empty(), empty(), empty(), empty()];
  const optional = empty();
  const steps = new Map<number, Uint32Array>();
  const named: [code: number, place: number][] = [];
  let place = 0;
  for (const [index, part] of found.entries()) {
    if (part.endsWith('*/') && index < found.length - 1) {
      for (const set of [stays, staysAtSlash, slashSteps, optional]) add(set, place);
      place++;
      continue;
    }
    if (part.startsWith('*')) {
      add(stays, place);
      if (style !== 'path' || part.length > 1) add(staysAtSlash, place);
      continue;
    }
    if (part === '?' && style !== 'words') {
      add(otherSteps, place);
      if (style !== 'path') add(slashSteps, place);
    } else named.push([part.codePointAt(0) as number, place]);
    place++;
  }
  steps.set(slash, slashSteps);
  for (const [code, at] of named) {
    const known = steps.get(code) ?? otherSteps.slice();
    steps.set(code, known);
    add(known, at);
  }
  return { words, steps, otherSteps, stays, staysAtSlash, optional, last: place };
}

function run(machine: Machine, text: string): boolean {
  const { words, steps, otherSteps, stays, staysAtSlash, optional, last } = machine;
  const places = new Uint32Array(words);
  places[0] = has(optional, 0) ? 0b11 : 1;
  const endsInAnything = has(staysAtSlash, last);
  for (let index = 0; index < text.length; index++) {
    if (endsInAnything && has(places, last)) return true;
    const code = text.codePointAt(index) as number;
    if (code > 0xffff) index++;
    const step = steps.get(code) ?? otherSteps;
    const stay = code === slash ? staysAtSlash : stays;
    let carried = 0;
    let carriedOn = 0;
    let alive = 0;
    for (let word = 0; word < words; word++) {
      const now = places[word] as number;
      const stepping = now & (step[word] as number);
      const arrived = (stepping << 1) | carried;
      const passed = arrived & (optional[word] as number);
      const next = arrived | (passed << 1) | carriedOn | (now & (stay[word] as number));
      carried = stepping >>> 31;
      carriedOn = passed >>> 31;
      alive |= next;
      places[word] = next;
    }
    if (alive === 0) return false;
  }
  return has(places, last);
}

function add(set: Uint32Array, place: number): void {
  set[place >>> 5] = (set[place >>> 5] as number) | (1 << (place & 31));
}

function has(set: Uint32Array, place: number): boolean {
  return (((set[place >>> 5] as number) >>> (place & 31)) & 1) === 1;
}
