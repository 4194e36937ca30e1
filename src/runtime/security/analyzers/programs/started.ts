/** What a program starts, by the keys of a rule. */
import { afterOptions } from '../shell/after-options.js';
import type { Facts } from './conditions.js';
import type { Started, Starting } from './rule.js';

export function startOf(facts: Facts, starting: Starting): Started | undefined {
  const { args } = facts.invocation;
  const { option, after, afterVerb, joined, ...wrapper } = starting;
  if (option !== undefined) return sourceAfter(args, option.split(' '), joined === true);
  if (after !== undefined) {
    const at = args.indexOf(after);
    return at === -1 ? undefined : [{ argv: args.slice(at + 1) }];
  }
  const begin = afterVerb ? args.indexOf(facts.words[0] ?? '') + 1 : 0;
  const rest = afterOptions(args.slice(begin), { ...wrapper, values: wrapper.values?.split(' ') });
  if (rest.length === 0) return undefined;
  return joined ? [{ argv: [], source: rest.join(' ') }] : [{ argv: rest }];
}

function sourceAfter(
  args: readonly string[],
  options: readonly string[],
  joined: boolean,
): Started | undefined {
  for (const [index, arg] of args.entries()) {
    if (options.includes(arg))
      return [{ argv: [], source: joined ? args.slice(index + 1).join(' ') : (args[index + 1] ?? '') }];
    const equals = arg.startsWith('--') ? arg.indexOf('=') : -1;
    if (equals !== -1 && options.includes(arg.slice(0, equals)))
      return [{ argv: [], source: arg.slice(equals + 1) }];
  }
  return undefined;
}
