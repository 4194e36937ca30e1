import * as z from 'zod';
import { type Fact, type FactCode, factSchema } from './facts.js';

/** From weakest to strongest; the order is what `minIsolation` compares. */
export const isolationTiers = ['none', 'namespace', 'container', 'gvisor', 'vm', 'vendor'] as const;

/** How strong an isolation is, weakest first. */
export type IsolationTier = (typeof isolationTiers)[number];

/** What a cell really enforces: the tier, and the facts behind it as probed at start. */
export const isolationSchema = z.object({
  tier: z.enum(isolationTiers),
  facts: z.array(factSchema),
});

/** What a cell enforces: its tier, and the facts behind it. */
export type Isolation = z.infer<typeof isolationSchema>;

/** What a caller demands: a tier, and facts that must hold whatever the tier. */
export type MinIsolation = IsolationTier | Demand;

/** A tier and the facts that a cell must enforce. */
export interface Demand {
  /** Default: `none`. */
  readonly tier?: IsolationTier | undefined;
  readonly facts?: readonly FactCode[] | undefined;
}

/** Whether a tier is at least as strong as the one that you demand. */
export function isAtLeast(tier: IsolationTier, minimum: IsolationTier): boolean {
  return isolationTiers.indexOf(tier) >= isolationTiers.indexOf(minimum);
}

/** What the cell lacks of a demand; undefined when it lacks nothing. */
export function shortfall(
  { tier, facts }: Isolation,
  { tier: minimum = 'none', facts: demanded = [] }: Demand,
): string | undefined {
  if (!isAtLeast(tier, minimum)) return `enforces "${tier}" and "${minimum}" is demanded`;
  const missing = demanded.filter((code) => !isEnforced({ facts }, code));
  return missing.length === 0 ? undefined : `does not enforce what is demanded: ${missing.join(', ')}`;
}

/** The fact of this code, if the cell reports it. */
export function findFact<Code extends FactCode>(
  { facts }: Pick<Isolation, 'facts'>,
  code: Code,
): Extract<Fact, { code: Code }> | undefined {
  return facts.find((fact): fact is Extract<Fact, { code: Code }> => fact.code === code);
}

/** True when the cell's own report says that it enforces this. What it does not report counts as not enforced. */
export function isEnforced(isolation: Pick<Isolation, 'facts'>, code: FactCode): boolean {
  return findFact(isolation, code)?.enforced ?? false;
}
