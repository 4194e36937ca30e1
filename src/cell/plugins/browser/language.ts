/**
 * Reads the action language of BrowserGym: Python-like calls with literal arguments, ignoring anything between them.
 * It is only a grammar: nothing ever evaluates any part of the text.
 */
import { describeIssues, WorkcellError } from '../../../protocol/index.js';
import { mostSteps, parametersOf, type Step, type StepName, stepNames, stepSchema } from './steps.js';

type Literal = string | number | boolean | null | Literal[];

interface Call {
  readonly name: string;
  readonly positional: readonly Literal[];
  readonly named: ReadonlyMap<string, Literal>;
}

/** Lists inside lists beyond this are no argument of any step. */
const deepest = 4;

export function parseSteps(text: string): Step[] {
  const steps = readCalls(text).map(toStep);
  if (steps.length === 0) {
    throw refusal(`There is no call in ${quote(text)}. Write calls such as click('12'), one on each line.`);
  }
  if (steps.length > mostSteps)
    throw refusal(`There are ${steps.length} calls; at most ${mostSteps} are taken at once.`);
  return steps;
}

function toStep({ name, positional, named }: Call): Step {
  if (!isStepName(name))
    throw refusal(`There is no browser action ${name}(). Known: ${stepNames.join(', ')}.`);
  const parameters = parametersOf(name);
  if (positional.length > parameters.length) {
    throw refusal(
      `${name}() takes ${parameters.length} arguments (${parameters.join(', ')}) and got ${positional.length}.`,
    );
  }
  const given = new Map<string, Literal>(
    positional.map((value, index) => [parameters[index] as string, value]),
  );
  for (const [key, value] of named) {
    if (given.has(key)) throw refusal(`${name}() got the argument ${key} twice.`);
    given.set(key, value);
  }
  const result = stepSchema.safeParse({ do: name, ...Object.fromEntries(given) });
  if (result.success) return result.data;
  throw refusal(`The call ${name}() does not fit: ${describeIssues(result.error)}.`);
}

function isStepName(name: string): name is StepName {
  return (stepNames as string[]).includes(name);
}

const callStart = /#[^\n]*|([A-Za-z_]\w*)\(/g;

function readCalls(text: string): Call[] {
  const calls: Call[] = [];
  const scan = new RegExp(callStart);
  for (let match = scan.exec(text); match !== null; match = scan.exec(text)) {
    const name = match[1];
    if (name === undefined) continue;
    try {
      const reader = new Reader(text, scan.lastIndex);
      calls.push({ name, ...reader.arguments() });
      scan.lastIndex = reader.at;
    } catch (error) {
      // Prose has parentheses, too. Only a known name makes a call.
      if (isStepName(name)) throw error;
    }
  }
  return calls;
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  a: '\x07',
  '\n': '',
};
const words = new Map<string, Literal>([
  ['True', true],
  ['true', true],
  ['False', false],
  ['false', false],
  ['None', null],
  ['null', null],
]);

class Reader {
  at: number;
  readonly #text: string;

  constructor(text: string, at: number) {
    this.#text = text;
    this.at = at;
  }

  /** What stands between the parentheses of a call, the closing one included. */
  arguments(): { positional: Literal[]; named: Map<string, Literal> } {
    const positional: Literal[] = [];
    const named = new Map<string, Literal>();
    while (!this.#take(')')) {
      const key = this.#match(/([A-Za-z_]\w*)\s*=(?!=)/y)?.[1];
      const value = this.#literal(0);
      if (key !== undefined) {
        if (named.has(key)) throw this.#failure(`the argument ${key} is there twice`);
        named.set(key, value);
      } else if (named.size > 0) throw this.#failure('an argument without a name follows one with a name');
      else positional.push(value);
      if (!this.#take(',') && this.#peek() !== ')') throw this.#failure('expected , or )');
    }
    return { positional, named };
  }

  #literal(depth: number): Literal {
    const next = this.#peek();
    if (next === '[' || next === '(') return this.#list(next === '[' ? ']' : ')', depth + 1);
    const number = this.#match(/[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y)?.[0];
    if (number !== undefined) return Number(number.replaceAll('_', ''));
    const open = this.#match(/([rRuU]?)("""|'''|"|')/y);
    if (open !== undefined) return this.#string(open[2] as string, /r/i.test(open[1] as string));
    const word = this.#match(/[A-Za-z_]\w*/y)?.[0];
    const value = words.get(word ?? '');
    if (value === undefined) throw this.#failure('expected a text, a number, True, False, None or a list');
    return value;
  }

  #list(end: string, depth: number): Literal[] {
    if (depth > deepest) throw this.#failure('lists are nested too deeply');
    this.at++;
    const items: Literal[] = [];
    while (!this.#take(end)) {
      items.push(this.#literal(depth));
      if (!this.#take(',') && this.#peek() !== end) throw this.#failure(`expected , or ${end}`);
    }
    return items;
  }

  #string(quotes: string, raw: boolean): string {
    let value = '';
    const text = this.#text;
    for (;;) {
      if (text.startsWith(quotes, this.at)) break;
      const character = text[this.at];
      if (character === undefined || (character === '\n' && quotes.length === 1))
        throw this.#failure(`the text is not closed by ${quotes}`);
      if (character === '\\' && !raw) value += this.#escape();
      else {
        // In a raw text a backslash stays, and still keeps the quotes behind it from ending the text.
        const length = character === '\\' ? 2 : 1;
        value += text.slice(this.at, this.at + length);
        this.at += length;
      }
    }
    this.at += quotes.length;
    // Python joins texts that follow each other.
    const more = this.#match(/([rRuU]?)("""|'''|"|')/y);
    return more === undefined ? value : value + this.#string(more[2] as string, /r/i.test(more[1] as string));
  }

  #escape(): string {
    const code = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8}))/y;
    code.lastIndex = this.at;
    const hex = code.exec(this.#text);
    if (hex !== null) {
      const point = Number.parseInt(hex[1] ?? hex[2] ?? (hex[3] as string), 16);
      if (point > 0x10_ff_ff) throw this.#failure('there is no such character');
      this.at += hex[0].length;
      return String.fromCodePoint(point);
    }
    const letter = this.#text[this.at + 1] ?? '';
    this.at += 2;
    if (letter === '\\' || letter === '"' || letter === "'") return letter;
    return escapes[letter] ?? `\\${letter}`;
  }

  #peek(): string | undefined {
    this.#match(/(?:\s|#[^\n]*\n)*/y, false);
    return this.#text[this.at];
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.at++;
    return true;
  }

  #match(pattern: RegExp, skip = true): RegExpExecArray | undefined {
    if (skip) this.#peek();
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.#text);
    if (match === null) return undefined;
    this.at = pattern.lastIndex;
    return match;
  }

  #failure(problem: string): WorkcellError {
    const line = this.#text.slice(0, this.at).split('\n').length;
    return refusal(
      `The browser actions cannot be read: in line ${line}, near ${quote(this.#text.slice(this.at))}, ${problem}.`,
    );
  }
}

function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}

function refusal(message: string): WorkcellError {
  return new WorkcellError('invalid-action', message);
}
