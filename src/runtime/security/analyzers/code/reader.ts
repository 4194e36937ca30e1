/** Reads the expressions of a program in any language and reports every call with what we know of its arguments. */

import { wordSet } from '../lookup.js';
import { unknownText } from '../paths/place.js';
import { pureCall, variableAt } from './pure-calls.js';
import { type Token, tokensOf } from './tokens.js';
import { joinPaths, listValue, replaced, textValue, unknownValue, type Value } from './value.js';

export interface Call {
  /** The name with what stands before it: `os.path.join`. */
  readonly chain: readonly string[];
  readonly args: readonly Value[];
  /** The object of the method, where that is a value: `Path('/etc').unlink()`. */
  readonly on: Value | undefined;
}

const deepest = 40;
const prefixes = wordSet('const let var my our await new return not del yield else then do begin async');

/** `bare` names the functions that some languages call without brackets. */
export function readCalls(code: string, slashes: boolean, bare: (name: string) => boolean): Call[] {
  const tokens = tokensOf(code, slashes);
  const calls: Call[] = [];
  const variables = new Map<string, Value>();
  // A loop or a block may assign a name after its use, as in a comprehension.
  for (let pass = 0; pass < 2; pass++) {
    calls.length = 0;
    new Reader(tokens, variables, calls, bare).read();
  }
  return calls;
}

class Reader {
  readonly #tokens: readonly Token[];
  readonly #variables: Map<string, Value>;
  readonly #calls: Call[];
  readonly #bare: (name: string) => boolean;
  #at = 0;
  #depth = 0;
  /** The object of the innermost method: the elements that a block gets. */
  #subject: Value = unknownValue;

  constructor(
    tokens: readonly Token[],
    variables: Map<string, Value>,
    calls: Call[],
    bare: (name: string) => boolean,
  ) {
    this.#tokens = tokens;
    this.#variables = variables;
    this.#calls = calls;
    this.#bare = bare;
  }

  read(): void {
    while (this.#at < this.#tokens.length) {
      const before = this.#at;
      this.#expression();
      if (this.#at === before) this.#at++;
    }
  }

  #peek(ahead = 0): Token | undefined {
    return this.#tokens[this.#at + ahead];
  }

  #is(value: string, ahead = 0): boolean {
    const token = this.#peek(ahead);
    return token !== undefined && token.kind !== 'text' && token.value === value;
  }

  #expression(): Value {
    if (this.#depth > deepest) {
      this.#at++;
      return unknownValue;
    }
    this.#depth++;
    let value = this.#postfix();
    for (;;) {
      const token = this.#peek();
      if (token === undefined) break;
      if (token.kind === 'text') {
        // Texts side by side are one in Python; elsewhere a new statement begins.
        const next = this.#postfix();
        value = textValue(value.text + next.text);
        continue;
      }
      if (
        token.kind !== 'mark' ||
        !/^(?:\+|\.|\/|%|\*|&&|\|\||==|!=|===|!==|<|>|<=|>=|\?|-|\||&)$/.test(token.value)
      )
        break;
      this.#at++;
      const right = this.#postfix();
      value = combine(value, token.value, right);
    }
    this.#depth--;
    return value;
  }

  #postfix(): Value {
    const token = this.#peek();
    if (token === undefined) return unknownValue;
    if (token.kind === 'text') {
      this.#at++;
      return this.#after(this.#interpolate(token), [], undefined);
    }
    if (token.kind === 'number') {
      this.#at++;
      return textValue(token.value);
    }
    if (token.kind === 'name') return this.#named();
    if (token.value === '(') {
      const items = this.#list(')');
      const only = items.length === 1 && items[0] !== undefined ? items[0] : listValue(items);
      return this.#after(only, [], undefined);
    }
    if (token.value === '[') return this.#after(listValue(this.#list(']')), [], undefined);
    if (token.value === '{') {
      if (this.#is('|', 1)) this.#bindBlock(1);
      this.#at++;
      return unknownValue;
    }
    if (/^[-+!&@\\*~]$/.test(token.value)) {
      this.#at++;
      const value = this.#postfix();
      return token.value === '-' ? textValue(`-${value.text}`) : value;
    }
    return unknownValue;
  }

  #named(): Value {
    const word = this.#peek()?.value ?? '';
    this.#at++;
    if (word === 'for' || word === 'foreach') return this.#loop();
    if (word === 'do' && this.#is('|')) {
      this.#bindBlock(0);
      return unknownValue;
    }
    if (prefixes.has(word)) return this.#postfix();
    if (this.#is('=') || this.#is(':=')) {
      this.#at++;
      const value = this.#expression();
      this.#variables.set(word, value);
      return value;
    }
    if (this.#is('=>')) this.#variables.set(word, element(this.#subject));
    const known = this.#variables.get(word);
    return this.#after(known ?? unknownValue, [word], known);
  }

  /** Everything that may follow a value: members, calls, indexes. */
  #after(start: Value, names: readonly string[], receiver: Value | undefined): Value {
    let value = start;
    let chain = [...names];
    let on = names.length === 0 ? start : receiver;
    for (;;) {
      const token = this.#peek();
      if (token === undefined || token.kind === 'text' || token.kind === 'line') {
        if (token?.kind === 'text' && this.#callsBare(chain)) {
          value = this.#call(chain, this.#bareArguments(), on);
          return value;
        }
        // A chain of methods continues on the next line.
        if (token?.value === '\n' && this.#is('.', 1)) {
          this.#at++;
          continue;
        }
        return value;
      }
      const next = this.#peek(1);
      if (/^(?:\.|->|::|\?\.)$/.test(token.value) && next?.kind === 'name' && !next.value.startsWith('$')) {
        this.#at += 2;
        chain = [...chain, next.value];
        value =
          variableAt(chain) ??
          (chain.length === 1 ? pureCall({ chain, args: [], on }) : undefined) ??
          unknownValue;
        continue;
      }
      if (token.value === '(') {
        const outside = this.#subject;
        if (on !== undefined) this.#subject = on;
        const args = this.#list(')');
        this.#subject = outside;
        value = this.#call(chain, args, on);
        on = value;
        chain = chain.length > 0 && /^(?:require|import)$/.test(chain[0] ?? '') ? [args[0]?.text ?? ''] : [];
        continue;
      }
      if (token.value === '[') {
        const items = this.#list(']');
        value = variableAt([...chain, items[0]?.text ?? '']) ?? indexed(value, items) ?? unknownValue;
        on = value;
        continue;
      }
      if (token.value === '{' && /^\$(?:ENV|_ENV|_SERVER)$/.test(chain[0] ?? '') && chain.length === 1) {
        this.#at++;
        const key = this.#expression();
        const named = this.#tokens[this.#at - 1]?.value ?? key.text;
        if (this.#is('}')) this.#at++;
        return variableAt([...chain, named]) ?? unknownValue;
      }
      if (token.value === '{' && this.#is('|', 1)) {
        const outside = this.#subject;
        this.#subject = on ?? unknownValue;
        this.#bindBlock(1);
        this.#subject = outside;
        return value;
      }
      if (token.kind === 'name' && token.value === 'do' && this.#is('|', 1)) {
        this.#subject = on ?? unknownValue;
        this.#bindBlock(1);
        return value;
      }
      if (
        this.#callsBare(chain) &&
        (token.kind === 'name'
          ? !/^(?:for|foreach|if|unless|while|in|and|or|do)$/.test(token.value)
          : token.value === '<')
      )
        return this.#call(chain, this.#bareArguments(), on);
      return value;
    }
  }

  #callsBare(chain: readonly string[]): boolean {
    const last = chain.at(-1);
    return last !== undefined && this.#bare(last);
  }

  #bareArguments(): Value[] {
    const args = [this.#expression()];
    while (this.#is(',')) {
      this.#at++;
      args.push(this.#expression());
    }
    return args;
  }

  #call(chain: readonly string[], args: readonly Value[], on: Value | undefined): Value {
    const call = { chain, args, on };
    this.#calls.push(call);
    return pureCall(call) ?? unknownValue;
  }

  /** The values between brackets, without names of arguments and keys. */
  #list(end: string): Value[] {
    const items: Value[] = [];
    this.#at++;
    while (this.#at < this.#tokens.length) {
      const token = this.#peek();
      if (token?.kind !== 'text' && token?.value === end) {
        this.#at++;
        break;
      }
      if (token?.kind === 'line' || token?.value === ',') {
        this.#at++;
        continue;
      }
      const [latest, bound] = [items.at(-1), this.#peek(1)];
      if (token?.kind === 'name' && token.value === 'as' && latest !== undefined && bound?.kind === 'name') {
        this.#bind([bound.value], latest);
        this.#at += 2;
        continue;
      }
      const before = this.#at;
      const value = this.#expression();
      if (this.#at === before) {
        const mark = this.#peek()?.value ?? '';
        // What closes another bracket does not belong here.
        if (/^[)\]]$/.test(mark) && mark !== end) break;
        this.#at++;
      } else items.push(value);
    }
    return items;
  }

  /** `for x in …`, `for (const x of …)`, `foreach (… as $x)`, `foreach my $x (…)`, and `… for …` after a statement. */
  #loop(): Value {
    const start = this.#at;
    const names: string[] = [];
    for (let ahead = 0; ahead < 12; ahead++) {
      const token = this.#peek(ahead);
      if (token === undefined || token.kind === 'line' || token.kind === 'text') break;
      if (token.kind === 'name' && /^(?:in|of|range)$/.test(token.value)) {
        this.#at += ahead + 1;
        this.#bind(names, this.#expression());
        return unknownValue;
      }
      if (token.kind === 'name' && !prefixes.has(token.value)) names.push(token.value);
      if (token.value === '(' && names.length > 0) break;
    }
    this.#at = start;
    const bound = names[0]?.startsWith('$') && this.#is('(', this.#is('my') ? 2 : 1) ? names[0] : '$_';
    if (bound !== '$_') this.#at += this.#is('my') ? 2 : 1;
    const value = this.#expression();
    const alias = this.#is('as') ? this.#peek(1)?.value : undefined;
    this.#bind([alias ?? bound], value);
    return unknownValue;
  }

  #bind(names: readonly string[], from: Value): void {
    for (const [index, name] of names.entries())
      this.#variables.set(name, index === 0 ? element(from) : unknownValue);
  }

  #bindBlock(ahead: number): void {
    this.#at += ahead + 1;
    const names: string[] = [];
    while (!this.#is('|') && this.#at < this.#tokens.length) {
      const token = this.#peek();
      if (token?.kind === 'name') names.push(token.value);
      this.#at++;
    }
    this.#at++;
    this.#bind(names, this.#subject);
  }

  #interpolate({ value, quote }: Token): Value {
    if (quote === "'" || !/[${#]/.test(value)) return textValue(value);
    const known = (name: string): string =>
      this.#variables.get(name)?.text ??
      this.#variables.get(`$${name}`)?.text ??
      (/HOME|homedir/.test(name) ? '~' : unknownText);
    return textValue(
      value
        .replace(quote === 'f' ? /\{([^{}]*)\}/g : /[$#]\{([^{}]*)\}/g, (_, inner: string) =>
          known(inner.trim()),
        )
        .replace(/\$([A-Za-z_]\w*)/g, (whole, name: string) => (quote === '"' ? known(name) : whole)),
    );
  }
}

/** The value in a loop over this: one of its parts, or a name in the listed directory. */
function element(value: Value): Value {
  return value.items?.[0] ?? value;
}

function indexed(value: Value, items: readonly Value[]): Value | undefined {
  const index = Number(items[0]?.text);
  return (
    value.items?.[index] ??
    (items.some(({ text }) => text === '-1') ? textValue([...value.text].reverse().join('')) : undefined)
  );
}

function combine(left: Value, operator: string, right: Value): Value {
  switch (operator) {
    case '+':
      if (left.items !== undefined && right.items !== undefined)
        return listValue([...left.items, ...right.items]);
      return textValue(left.text + right.text);
    case '.':
      return textValue(left.text + right.text);
    case '/':
      return joinPaths([left, right]);
    case '%':
      return replaced(left.text, /%[sdr]/g, right.text);
    case '||':
    case '?':
      return left.text === unknownText ? right : left;
    default:
      return unknownValue;
  }
}
