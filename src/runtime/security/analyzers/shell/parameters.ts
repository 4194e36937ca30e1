/** `${name…}` with its operators, where the value is constant. */
import type { ParameterExpansionPart, Word } from 'unbash';
import { globMatches } from '../paths/glob.js';
import { unknownText } from '../paths/place.js';

export function expandParameter(
  part: ParameterExpansionPart,
  variable: (name: string) => string,
  expand: (word: Word) => string,
): string {
  const { parameter, prefix, operation } = part;
  if (prefix === '#') return unknownText;
  if (operation?.type === 'Names') return unknownText;
  const named = variable(parameter);
  const value = prefix === '!' ? (named === unknownText ? unknownText : variable(named)) : named;
  if (operation === undefined) return value;
  if (operation.type === 'Default') {
    const operand = expand(operation.operand);
    if (operation.operator.endsWith('+')) return value === '' ? '' : operand;
    if (operation.operator.endsWith('?')) return value;
    // We cannot tell an unset variable from one that the session has set: assume the default that stands here.
    return value === '' || value === unknownText ? operand : value;
  }
  if (value.includes(unknownText)) return unknownText;
  switch (operation.type) {
    case 'Slice':
      return slice(parameter, value, expand(operation.offset), operation.length && expand(operation.length));
    case 'Remove':
      return remove(value, operation.operator, expand(operation.operand));
    case 'Replace':
      return replace(value, operation.operator, expand(operation.pattern), expand(operation.replacement));
    case 'CaseModification':
      return changeCase(value, operation.operator);
    default:
      return unknownText;
  }
}

function slice(name: string, value: string, offset: string, length: string | undefined): string {
  const start = Number(offset);
  const count = length === undefined ? undefined : Number(length);
  if (Number.isNaN(start) || Number.isNaN(count ?? 0)) return unknownText;
  // These always begin with a slash, and commands cut it out to get one.
  if (/^(?:HOME|PWD|OLDPWD|PATH|SHELL|BASH)$/.test(name) && start === 0 && count === 1) return '/';
  const from = start < 0 ? value.length + start : start;
  return value.slice(from, count === undefined ? undefined : count < 0 ? count : from + count);
}

function remove(value: string, operator: string, pattern: string): string {
  if (pattern.includes(unknownText) || value.length * pattern.length > 4096) return unknownText;
  const lengths = Array.from({ length: value.length + 1 }, (_, length) => length);
  if (operator.length === 2) lengths.reverse();
  for (const length of lengths) {
    const atStart = operator.startsWith('#');
    const cut = atStart ? value.slice(0, length) : value.slice(value.length - length);
    if (globMatches(pattern, cut))
      return atStart ? value.slice(length) : value.slice(0, value.length - length);
  }
  return value;
}

function replace(value: string, operator: string, pattern: string, replacement: string): string {
  if (pattern === '' || /[*?[\0]/.test(pattern)) return pattern === '' ? value : unknownText;
  return operator === '//' ? value.replaceAll(pattern, replacement) : value.replace(pattern, replacement);
}

function changeCase(value: string, operator: string): string {
  const change = (text: string) => (operator.startsWith('^') ? text.toUpperCase() : text.toLowerCase());
  return operator.length === 2 ? change(value) : change(value.slice(0, 1)) + value.slice(1);
}
