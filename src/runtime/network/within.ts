/** The hosts that an operator keeps a cell within. It can be said once, and then no change takes it back. */
import { WorkcellError } from '../../protocol/errors.js';
import type { FullNetworkRules } from '../../protocol/network/network-schema.js';

export function keepWithin(before: FullNetworkRules, rules: FullNetworkRules): FullNetworkRules {
  const { within } = before;
  if (within === undefined) return rules;
  if (rules.within !== undefined && !sameHosts(rules.within, within))
    throw new WorkcellError(
      'invalid-config',
      'network.within cannot change while a cell runs. Leave it out, and narrow what the cell reaches with network.allow and network.deny.',
      { details: { key: 'network.within' } },
    );
  return { ...rules, within };
}

/** Throws where a cell that runs was started with another one than the settings of who attaches to it say. */
export function checkWithin(cell: string, rules: FullNetworkRules, wanted: readonly string[]): void {
  const { within } = rules;
  if (within === undefined || sameHosts(within, wanted)) return;
  throw new WorkcellError(
    'invalid-config',
    `Cell ${cell} was started with network.within [${within.join(', ')}], which cannot change while it runs, and your settings say another one. Attach with that one, or end the cell and start it anew with yours.`,
    { details: { key: 'network.within', cell, within } },
  );
}

/** In any order. */
function sameHosts(one: readonly string[], other: readonly string[]): boolean {
  return new Set([...one, ...other]).size === new Set(one).size && new Set(other).size === new Set(one).size;
}
