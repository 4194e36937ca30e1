/** Turns a word of the grammar into the words a program gets, as far as they are constant. */

import type { DoubleQuotedChild, ParsedScript, Word, WordPart } from 'unbash';
import { withoutEnd } from '../../../../base/without-end.js';
import { unknownText } from '../paths/place.js';
import { expandBraces } from './braces.js';
import type { Invocation, Result } from './invocation.js';
import { expandParameter } from './parameters.js';
import type { Scope } from './scope.js';

/** What happens inside words during expansion. */
export interface Expansion {
  readonly scope: Scope;
  readonly substituted: Invocation[];
  readonly behind: Result[];
  readonly variables: string[];
  /** Reads a script inside a word and tells what it prints. */
  walk(script: ParsedScript, scope: Scope): Result;
}

const mostAlternatives = 64;

export function expandWord(word: Word, expansion: Expansion): string[] {
  const { parts } = word;
  if (parts === undefined) return [word.value];
  const fields = new Fields();
  for (const part of parts) appendPart(part, fields, expansion);
  return fields.end();
}

/** The word as one text, as in an assignment or a redirect. */
export function expandText(word: Word, expansion: Expansion): string {
  return expandWord(word, expansion).join(' ');
}

/** The body of a here-document with an unquoted delimiter. */
export function expandParts(parts: readonly WordPart[], expansion: Expansion): string {
  let text = '';
  for (const part of parts) {
    const fields = new Fields();
    appendPart(part, fields, expansion);
    text += part.type === 'Literal' ? part.value : fields.end().join(' ');
  }
  return text;
}

function appendPart(part: WordPart, fields: Fields, expansion: Expansion): void {
  switch (part.type) {
    case 'Literal':
    case 'Glob':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      fields.append(part.value);
      return;
    case 'DoubleQuoted':
    case 'LocaleString':
      fields.append('');
      for (const child of part.parts) {
        const text = expandQuoted(child, expansion);
        // These fall apart into words even in quotes.
        if (isList(child)) fields.split(text);
        else fields.append(text);
      }
      return;
    case 'BraceExpansion':
      fields.alternate(expandBraces(part.text, (name) => expansion.scope.get(name).text));
      return;
    case 'ExtendedGlob':
      fields.append(part.text);
      return;
    case 'ProcessSubstitution': {
      if (part.script !== undefined) expansion.behind.push(expansion.walk(part.script, expansion.scope));
      fields.append(`/dev/fd/${unknownText}`);
      return;
    }
    default:
      fields.split(expandQuoted(part, expansion), separatorsIn(expansion.scope));
  }
}

/** White space, unless the script says otherwise. */
function separatorsIn(scope: Scope): RegExp | undefined {
  const own = scope.variables.get('IFS')?.text;
  if (own === undefined || own === '' || /^\s+$/.test(own) || own.includes(unknownText)) return undefined;
  return new RegExp(`[${own.replace(/[\\\]^-]/g, '\\$&')}\\s]+`);
}

function expandQuoted(part: DoubleQuotedChild, expansion: Expansion): string {
  switch (part.type) {
    case 'Literal':
      return part.value;
    case 'SimpleExpansion':
      return lookUp(part.text.slice(1), expansion);
    case 'ParameterExpansion':
      return expandParameter(
        part,
        (name) => lookUp(name, expansion),
        (word) => expandText(word, expansion),
      );
    case 'CommandExpansion': {
      if (part.script === undefined) return unknownText;
      const result = expansion.walk(part.script, expansion.scope);
      for (const invocation of result.from) expansion.substituted.push(invocation);
      return result.text === undefined ? unknownText : withoutEnd(result.text, '\n');
    }
    default:
      return unknownText;
  }
}

function isList(part: DoubleQuotedChild): boolean {
  if (part.type === 'SimpleExpansion') return part.text === '$@';
  return part.type === 'ParameterExpansion' && (part.parameter === '@' || part.index?.value === '@');
}

function lookUp(name: string, { scope, substituted, variables }: Expansion): string {
  const { text, origin } = scope.get(name);
  variables.push(name);
  for (const invocation of origin) if (!substituted.includes(invocation)) substituted.push(invocation);
  return text;
}

/** The words under construction: those that are complete, and all forms that the current one takes. */
class Fields {
  readonly #done: string[] = [];
  #current: string[] | undefined;

  append(text: string): void {
    this.#current = (this.#current ?? ['']).map((start) => start + text);
  }

  alternate(texts: readonly string[]): void {
    this.#current = (this.#current ?? [''])
      .flatMap((start) => texts.map((text) => start + text))
      .slice(0, mostAlternatives);
  }

  /** What comes out of an unquoted variable falls apart at white space. */
  split(text: string, separators = /\s+/): void {
    if (!separators.test(text)) {
      if (text !== '') this.append(text);
      return;
    }
    const [first = '', ...rest] = text.split(separators);
    if (first !== '') this.append(first);
    for (const next of rest) {
      this.#finish();
      if (next !== '') this.append(next);
    }
  }

  end(): string[] {
    this.#finish();
    return this.#done;
  }

  #finish(): void {
    const words = this.#current ?? [];
    // An empty alternative is no word.
    this.#done.push(...(words.length > 1 ? words.filter((word) => word !== '') : words));
    this.#current = undefined;
  }
}
