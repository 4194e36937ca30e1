import { z } from 'zod';

/** From weakest to strongest; the order is what `minIsolation` compares. */
export const isolationTiers = ['none', 'namespace', 'container', 'gvisor', 'vm', 'vendor'] as const;

export type IsolationTier = (typeof isolationTiers)[number];

/** What a cell really enforces: the tier, and the facts behind it as probed at start. */
export const isolationSchema = z.object({
  tier: z.enum(isolationTiers),
  facts: z.array(
    z.object({
      name: z.string(),
      enforced: z.boolean(),
      detail: z.string(),
    }),
  ),
});

export type Isolation = z.infer<typeof isolationSchema>;

export function isAtLeast(tier: IsolationTier, minimum: IsolationTier): boolean {
  return isolationTiers.indexOf(tier) >= isolationTiers.indexOf(minimum);
}
